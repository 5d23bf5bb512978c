"""From facts to a manifest: the recorded Jobs' own figures, what is left out, and what is refused."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.domain.identity import rules_hash
from benchmarks.domain.types import Attempt, Category, DomainError, Scoring
from benchmarks.models import Configuration
from hub.domain import codec
from hub.domain.assemble import AssemblyError, assemble, release_problems, revise
from hub.domain.consistency import consistency
from hub.domain.extracts import agent_facts
from hub.domain.facts import ResultFacts, StatusChange
from hub.domain.manifest import Disclosure, Manifest, ManifestResult, ModelUse
from hub.domain.stored import manifest_bytes, parse_manifest
from jobs.models import JobAgent
from jobs.tallies import blocking_issues
from tests.domain.hub.made import (
    ADA,
    AGENTS_TRACK,
    LATER,
    MADE,
    MODELS_TRACK,
    agent,
    attempts,
    digest,
    facts,
    task,
)
from tests.domain.hub.recorded import (
    ALL_DISCLOSED,
    GROUPS,
    all_results,
    inputs,
    recorded,
    release_facts,
    result_facts,
)
from tests.jobs.test_recorded_jobs import differences

GOLDEN = Path(__file__).parents[2] / "data" / "plural" / "manifest-1.0.0.json"


def made(**changes: Any) -> Manifest:
    return assemble(**{**MADE, **changes})


def refused(**changes: Any) -> tuple[str, ...]:
    with pytest.raises(AssemblyError) as caught:
        made(**changes)
    return caught.value.problems


def only(manifest: Manifest) -> ManifestResult:
    (result,) = manifest.results
    return result


# The recorded Jobs ---------------------------------------------------------------------------------


def test_the_recorded_jobs_give_the_golden_bytes() -> None:
    data = manifest_bytes(assemble(**inputs()))
    assert data == GOLDEN.read_bytes()
    assert parse_manifest(data) == assemble(**inputs())


def test_every_published_figure_is_the_expected_one() -> None:
    manifests = {version: assemble(**inputs(version)) for version in recorded()}
    found: list[str] = []
    for group in (each for each in GROUPS if each["track"]):
        manifest = manifests[group["benchmark"]["version"]]
        names = {each.id: each.name for each in manifest.tasks}
        (result,) = [
            each
            for each in manifest.results
            if (each.track, each.configuration) == (group["track"], group["agent_content_hash"])
        ]
        ours = codec.plain(result)
        wanted = group["all_jobs"]
        shown = {key: wanted[key] for key in ours if key in wanted and key not in ("tasks", "categories")}
        found += differences(result.id, shown, ours)
        for mine, theirs in ((ours["tasks"], wanted["tasks"]), (ours["categories"], wanted["categories"])):
            assert len(mine) == len(theirs)
            for one, other in zip(mine, theirs, strict=True):
                assert names.get(one.get("task_id"), one.get("id")) == other.get("task", other.get("id"))
                found += differences(result.id, {key: other[key] for key in one if key in other}, one)
        assert result.eligible == wanted["eligible"]
        assert len(result.ineligible_reasons) == len(wanted["ineligible_reasons"])
        assert set(result.reproducibility.evaluation_ids) == set(group["job_ids"])
    assert found == []
    assert sum(len(each.results) for each in manifests.values()) == len([g for g in GROUPS if g["track"]])


def test_nothing_private_is_in_the_recorded_manifest() -> None:
    data = manifest_bytes(assemble(**inputs())).decode()
    for header in (each.header for each in recorded().values()):
        for definition in header.definitions:
            if definition.kind == "task":
                content = definition.content
                private = [content["instructions"].strip(), content["initial_state"].get("body", "no body")]
                private += [fact for fact in content["expected"].get("facts", []) if len(fact) > 3]
                assert [text for text in private if json.dumps(text)[1:-1] in data] == []
            if definition.kind == "agent" and definition.content["instructions"].strip():
                assert json.dumps(definition.content["instructions"].strip())[1:-1] not in data
    assert "verify.py" not in data and "127.0.0.1" not in data


def test_disclosed_material_and_nothing_else_comes_in() -> None:
    hidden = codec.plain(assemble(**inputs()))
    given_all = {**inputs(), "release": release_facts("1.0.0", instructions=True, texts=True)}
    assert assemble(**given_all).tasks[0].instructions is None
    shown = codec.plain(assemble(**{**given_all, "disclosure": ALL_DISCLOSED}))
    instructions = [each.pop("instructions") for each in shown["tasks"]]
    assert all(text.startswith("# ") for text in instructions)
    findings = [each.pop("findings") for result in shown["results"] for each in result["examples"]]
    assert len(findings) == 20 and all(findings)
    for each in shown["tasks"]:
        assert each.pop("description") and each.pop("applicability") == {"language": "en"}
    for each in hidden["tasks"]:
        assert (each.pop("instructions"), each.pop("description"), each.pop("applicability")) == (
            None,
            "",
            {},
        )
    assert {each.pop("findings") is None for result in hidden["results"] for each in result["examples"]} == {
        False
    }
    shown.pop("disclosure"), hidden.pop("disclosure")
    assert shown == hidden


@settings(max_examples=8)
@given(st.randoms(use_true_random=False))
def test_the_order_of_what_is_given_changes_no_byte(order: random.Random) -> None:
    results = [replace(each, attempts=shuffled(each.attempts, order)) for each in all_results("1.0.0")]
    data = manifest_bytes(assemble(**inputs(results=shuffled(results, order))))
    assert data == GOLDEN.read_bytes()


def shuffled(items: Any, order: random.Random) -> list[Any]:
    mixed = list(items)
    order.shuffle(mixed)
    return mixed


# Parts ---------------------------------------------------------------------------------------------


def test_ids_hashes_and_times() -> None:
    manifest = made()
    result = only(manifest)
    assert [each.id for each in manifest.tasks] == [digest("task a"), digest("task b")]
    assert manifest.categories[0].tasks == (digest("task a"),)
    assert [each.weight for each in manifest.tasks] == [1.0, 3.0]
    assert manifest.release.published_at == result.evaluated_from == "2026-11-30T18:00:00Z"
    made_of = result.reproducibility
    assert made_of.track_rules_hash == rules_hash(AGENTS_TRACK)
    assert made_of.configuration_hash == manifest.configurations[0].id == digest("agent bot")
    assert made_of.task_hashes == (digest("task a"), digest("task b"))
    assert (result.cost.value, result.latency.value) == (0.25, 3.0)


def test_a_result_without_times_or_limits_says_nothing_of_them() -> None:
    result = only(made(results=[facts(evaluated_from=None, evaluated_to=None)]))
    assert (result.evaluated_from, result.evaluated_to) == (None, None)
    with pytest.raises(DomainError, match="no time zone"):
        made(published_at=LATER.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("more", "used", "kind"),
    [
        ({}, (), "model"),
        ({}, ("maker/bot-1", "bot-1"), "model"),
        ({"fallback_models": ("maker/other",)}, (), "system"),
        ({}, ("maker/other",), "system"),
    ],
)
def test_a_configuration_is_a_system_when_more_than_one_model_may_answer(
    more: dict[str, Any], used: tuple[str, ...], kind: str
) -> None:
    configured = made(
        results=[facts(agent=agent(**more), models_used=[ModelUse(name) for name in used])]
    ).configurations[0]
    assert (configured.kind, configured.group, configured.model) == (kind, "maker/bot-1", "maker/bot-1")


def test_settings_hold_temperature_and_max_tokens_alone() -> None:
    settings = made(results=[facts(agent=agent(temperature=0, max_tokens=512))]).configurations[0].settings
    assert settings == {"temperature": 0.0, "max_tokens": 512}
    assert isinstance(settings["temperature"], float)
    assert made().configurations[0].settings == {}


def test_a_partial_cost_is_marked_as_a_lower_bound() -> None:
    partial = [replace(each, cost_partial=True) for each in attempts((1.0, 0.0))]
    assert only(made()).cost.unit == "USD per attempt"
    assert only(made(results=[facts(attempts=partial)])).cost.unit == "USD per attempt (lower bound)"


def test_conformance_models_used_and_given_issues_keep_from_ranking() -> None:
    result = facts(
        track="models@1.0.0",
        agent=agent(instructions_digest=digest("x"), harness="loop", fallback_models=("z",)),
        models_used=[ModelUse("maker/else")],
        blocking_issues=["Given from outside.", "Given from outside."],
    )
    reasons = only(made(results=[result])).ineligible_reasons
    words = [
        "built-in loop",
        "falls back",
        "instructions",
        "temperature",
        "maker/else",
        "Given from outside.",
    ]
    assert len(reasons) == len(words)
    assert all(word in reason for word, reason in zip(words, reasons, strict=True))


def test_reasons_that_the_board_found_too_are_told_once() -> None:
    content = {
        "model": "maker/bot-1",
        "instructions": "Be brief.",
        "routing": {"provider": None, "fallback_models": ["z"], "temperature": 0.5, "max_tokens": None},
    }
    board = blocking_issues(
        MODELS_TRACK,
        Configuration(model="maker/bot-1", definition=json.dumps(content)),
        [JobAgent(harness="loop")],
        {"maker/else", "bot-1"},
    )
    result = facts(
        track="models@1.0.0",
        agent=agent_facts(digest("agent bot"), content, label="bot", harness="loop"),
        models_used=[ModelUse("maker/else"), ModelUse("bot-1")],
        blocking_issues=board,
    )
    assert len(board) == 5
    assert only(made(results=[result])).ineligible_reasons == tuple(board)


def test_calls_of_several_results_add_up_where_they_are_known() -> None:
    one = facts(models_used=[ModelUse("b", calls=2), ModelUse("a", "p", 1)])
    two = facts(
        "res_2",
        track="models@1.0.0",
        models_used=[ModelUse("b", calls=3), ModelUse("a", "p"), ModelUse("a", calls=4)],
    )
    (configured,) = made(results=[one, two]).configurations
    assert configured.models_used == (ModelUse("a", None, 4), ModelUse("a", "p"), ModelUse("b", None, 5))


def test_labels_come_from_the_latest_result() -> None:
    later = facts("res_2", track="models@1.0.0", evaluated_to=LATER, agent=agent(harness_version=None))
    renamed = replace(later, agent=replace(later.agent, label="renamed"))
    for order in ([facts(), renamed], [renamed, facts()]):
        assert [each.label for each in made(results=order).configurations] == ["renamed"]


# Examples ------------------------------------------------------------------------------------------


def of_task_a(*rows: tuple[str | None, int, float | None, str | None]) -> list[Attempt]:
    """(Trial id, attempt, score, stop reason); attempts without a score ended as Agent failures."""
    return [
        Attempt(
            "a",
            number,
            "succeeded" if score is not None else "failed",
            score,
            error_code=None if score is not None else "harness_failed",
            stop_reason=stop,
            trial_id=trial,
        )
        for trial, number, score, stop in rows
    ]


def test_examples_are_the_first_success_and_the_first_failure_by_trial() -> None:
    rows = of_task_a(
        ("t9", 1, 1.0, "done"),
        ("t2", 7, 1.0, "environment_terminated"),
        ("t3", 1, 0.5, "Ask me: the answer is 7"),
        ("t1", 4, None, "max_turns"),
    )
    findings = {"t1": ["Nothing came."], "t2": ["All there."]}
    result = facts(attempts=rows, findings=findings)
    shown = only(made(results=[result])).examples
    assert [(each.attempt, each.outcome, each.score, each.stop_reason) for each in shown] == [
        (7, "scored", 1.0, "environment_terminated"),
        (4, "agent_failure", None, "max_turns"),
    ]
    assert [each.findings for each in shown] == [(), ()]
    shown = only(made(results=[result], disclosure=Disclosure(verifier_findings=True))).examples
    assert [each.findings for each in shown] == [("All there.",), ("Nothing came.",)]


def test_attempts_without_trials_are_told_apart_by_number_and_free_text_is_no_stop_reason() -> None:
    rows = of_task_a((None, 3, 0.0, "max_turns"), (None, 2, 0.0, "Ask me"), (None, 1, 1.0, None))
    shown = only(made(results=[facts(attempts=rows)])).examples
    assert [(each.attempt, each.stop_reason) for each in shown] == [(1, None), (2, None)]


@pytest.mark.parametrize(
    ("scoring", "rows"),
    [
        (Scoring(), [("t1", 1, 1.0, None), ("t2", 2, 1.0, None)]),
        (Scoring(success_threshold=None), [("t1", 1, 1.0, None), ("t2", 2, 0.0, None)]),
        (Scoring(agent_failure="exclude"), [("t1", 1, 1.0, None), ("t2", 2, None, None)]),
        (Scoring(success_threshold=0.0), [("t1", 1, 1.0, None), ("t2", 2, None, None)]),
    ],
)
def test_no_example_without_both_outcomes(scoring: Scoring, rows: list[Any]) -> None:
    release = replace(MADE["release"], scoring=scoring)
    assert only(made(release=release, results=[facts(attempts=of_task_a(*rows))])).examples == ()


def test_attempts_that_do_not_count_are_no_examples() -> None:
    scoring = Scoring(agent_failure="exclude")
    rows = of_task_a(("t1", 1, None, None), ("t2", 2, 1.0, None), ("t3", 3, 0.0, None))
    release = replace(MADE["release"], scoring=scoring)
    shown = only(made(release=release, results=[facts(attempts=rows)])).examples
    assert [each.attempt for each in shown] == [2, 3]


# What can't be published ---------------------------------------------------------------------------


def test_two_tasks_of_one_content_are_refused_by_name() -> None:
    twin = replace(task("b"), content_hash=digest("task a"))
    release = replace(MADE["release"], tasks=[task("a"), twin])
    (problem,) = refused(release=release)
    assert "a, b" in problem and digest("task a") in problem
    assert release_problems(release) == [problem]
    assert release_problems(MADE["release"]) == []


def test_a_release_whose_rules_are_broken_is_refused() -> None:
    release = replace(
        MADE["release"],
        tasks=[task("a"), replace(task("a"), content_hash=digest("other"))],
        categories=[Category("first", "First", tasks=("zz",))],
        scoring=Scoring(),
    )
    problems = refused(release=release)
    assert [text for text in problems if "'a'" in text] and [text for text in problems if "zz" in text]
    assert "The release has no Tasks." in release_problems(replace(MADE["release"], tasks=[]))


def test_results_that_can_not_be_picked_are_refused_with_every_reason() -> None:
    twice = attempts((1.0, 0.0)) * 2
    problems = refused(
        results=[
            facts(track=""),
            facts(jobs=[]),
            facts("res_2", attempts=twice),
            facts("res_3", supersedes="res_1"),
        ],
        disclosure=Disclosure(traces=True),
    )
    words = ["given 2 times", "on track ''", "no Jobs", "trl_a, trl_b", "must say why", "never published"]
    assert len(problems) == len(words)
    assert all(word in problem for word, problem in zip(words, problems, strict=True))


def test_two_results_that_tell_different_things_of_one_configuration_are_refused() -> None:
    other = facts("res_2", track="models@1.0.0", agent=agent(harness="loop", temperature=1.0))
    (problem,) = refused(results=[facts(), other])
    assert "harness, settings" in problem
    (problem,) = refused(results=[other], previous=made(), published_at=LATER)
    assert "harness, settings" in problem


def test_what_is_inconsistent_in_the_end_is_refused_with_its_place() -> None:
    problems = refused(publication=replace(MADE["publication"], slug="a b"))
    assert problems == ("publication.slug: must be a name without white space, '/', '@' and '#'",)


# The next manifest ---------------------------------------------------------------------------------


def after(previous: Manifest, *results: ResultFacts, **changes: Any) -> Manifest:
    return made(previous=previous, results=results, published_at=LATER, **changes)


def test_published_results_are_carried_over_as_they_were() -> None:
    first = made()
    second = after(first, facts("res_2", track="models@1.0.0"))
    assert only(first) in second.results
    assert [each.id for each in second.results] == ["res_1", "res_2"]
    assert after(first) == replace(first, release=replace(first.release, published_at="2026-12-01T09:30:00Z"))


def test_a_correction_keeps_the_corrected_result_with_its_reason() -> None:
    new = facts("res_2", (1.0, 1.0), supersedes="res_1", reason="A wrong key.")
    manifest = after(made(), new)
    old, corrected = manifest.results
    assert (old.status, old.status_reason, old.score) == ("superseded", "A wrong key.", 0.4375)
    assert (corrected.status, corrected.supersedes, corrected.score) == ("accepted", "res_1", 1.0)
    with pytest.raises(AssemblyError, match="corrected already"):
        after(manifest, replace(new, id="res_3"))
    with pytest.raises(AssemblyError, match="was not published"):
        after(made(), replace(new, supersedes="res_2"))
    with pytest.raises(AssemblyError, match="was not published"):
        after(made(), replace(new, supersedes="res_9"))
    unpublished = [facts("res_8"), replace(new, supersedes="res_8")]
    for order in (unpublished, unpublished[::-1]):
        with pytest.raises(AssemblyError, match="was not published"):
            after(made(), *order)


def test_a_withdrawn_result_that_is_corrected_stays_withdrawn() -> None:
    withdrawn = revise(made(), published_at=LATER, changes=[StatusChange("res_1", True, "Leaked.")])
    manifest = after(withdrawn, facts("res_2", supersedes="res_1", reason="Run again."))
    assert [(each.status, each.status_reason) for each in manifest.results] == [
        ("withdrawn", "Leaked."),
        ("accepted", None),
    ]


def test_a_published_result_computed_anew_must_come_out_the_same() -> None:
    rows = of_task_a(("t1", 1, 1.0, None), ("t2", 2, 0.0, None))
    result = facts(attempts=rows, findings={"t1": ["Found."]})
    first = made(results=[result])
    shown = after(first, result, disclosure=Disclosure(verifier_findings=True))
    assert [each.findings for each in only(shown).examples] == [("Found.",), ()]
    assert after(shown, disclosure=Disclosure(verifier_findings=True)).results == shown.results
    assert [each.findings for each in only(after(shown)).examples] == [(), ()]
    with pytest.raises(AssemblyError, match="differs in score, success_rate, .*Publish the new figures"):
        after(first, replace(result, attempts=rows[:1]))


def test_published_configurations_keep_the_models_they_used() -> None:
    first = made(results=[facts(models_used=[ModelUse("maker/bot-1", calls=3), ModelUse("old", calls=1)])])
    new = facts(
        "res_2",
        track="models@1.0.0",
        models_used=[ModelUse("maker/bot-1", calls=3), ModelUse("old", calls=2)],
    )
    (configured,) = after(first, new).configurations
    assert configured.models_used == (ModelUse("maker/bot-1", None, 3), ModelUse("old"))


def test_withdrawing_and_accepting_again() -> None:
    first = made()
    gone = revise(first, published_at=LATER, changes=[StatusChange("res_1", True, "Leaked.")])
    assert (only(gone).status, only(gone).status_reason) == ("withdrawn", "Leaked.")
    back = revise(gone, published_at=LATER, changes=[StatusChange("res_1", False)])
    assert only(back) == only(first)
    assert after(gone, changes=[StatusChange("res_1", False)]) == back
    whole = revise(first, published_at=LATER, status="withdrawn")
    assert (whole.status, whole.results) == ("withdrawn", first.results)
    assert after(whole).status == "withdrawn"
    assert revise(whole, published_at=LATER, status="published").status == "published"


@pytest.mark.parametrize(
    ("changes", "status", "message"),
    [
        ([StatusChange("res_9", True, "Why.")], None, "was not published"),
        ([StatusChange("res_1", True, " ")], None, "must say why"),
        ([StatusChange("res_1", False)], None, "is accepted: only one that is withdrawn"),
        ([], "published", "is published already"),
        ([], None, "Nothing would change"),
    ],
)
def test_changes_that_can_not_be_are_refused(changes: list[StatusChange], status: Any, message: str) -> None:
    with pytest.raises(AssemblyError, match=message):
        revise(made(), published_at=LATER, changes=changes, status=status)


def test_the_manifest_before_must_be_of_the_same_publication_and_release() -> None:
    first = made()
    other = replace(first, publication=replace(first.publication, id="pub_2"))
    assert "another publication" in refused(previous=other)[0]
    (problem,) = refused(previous=first, release=replace(MADE["release"], version="1.1.0"))
    assert "superseded" in problem
    (problem,) = refused(previous=first, release=replace(MADE["release"], content_hash=digest("new")))
    assert digest("release") in problem and digest("new") in problem


def test_another_release_supersedes_by_reference_and_later_manifests_keep_that() -> None:
    reference = f"plural:benchmark/desk@0.9.0#{digest('old')}"
    first = made(supersedes=reference)
    assert first.release.supersedes == reference
    assert after(first).release.supersedes == reference
    assert made().release.supersedes is None


figures = st.none() | st.floats(0, 1)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), figures, figures, st.booleans()), max_size=12),
    st.sampled_from(["zero", "exclude"]),
    st.sampled_from([None, 0.0, 0.5, 1.0]),
    st.integers(2, 3),
)
def test_whatever_the_attempts_were_the_manifest_is_consistent(
    rows: list[tuple[str, float | None, float | None, bool]],
    failure: Any,
    threshold: float | None,
    needed: int,
) -> None:
    given_attempts = [
        Attempt(name, number, "failed" if score is None else "succeeded", score,
                stop_reason="max_turns" if limit else None, cost_usd=cost, trial_id=f"t{number}")
        for number, (name, score, cost, limit) in enumerate(rows)
    ]  # fmt: skip
    scoring = Scoring(
        task_weights={"b": 0.3}, agent_failure=failure, success_threshold=threshold,
        min_tasks_for_interval=needed, coverage_required=0.5,
    )  # fmt: skip
    release = replace(MADE["release"], scoring=scoring, tracks=[MODELS_TRACK, AGENTS_TRACK])
    manifest = made(release=release, results=[facts(attempts=given_attempts, submitted_by=ADA)])
    assert consistency(manifest) == []
    assert parse_manifest(manifest_bytes(manifest)) == manifest


def test_every_track_of_the_recorded_jobs_can_be_picked_alone() -> None:
    track, configuration = next(key for key in recorded()["1.1.0"].groups if key[0])
    manifest = assemble(**inputs("1.1.0", [result_facts("1.1.0", track, configuration)]))
    assert len(manifest.results) == len(manifest.configurations) == 1
