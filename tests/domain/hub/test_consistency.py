"""Every rule of a manifest by a manifest that breaks it, and what a sound one may hold."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.domain.types import Scoring, Track
from hub.domain import codec
from hub.domain.assemble import assemble
from hub.domain.codec import FormError
from hub.domain.consistency import consistency
from hub.domain.facts import ResultFacts
from hub.domain.manifest import Manifest
from hub.domain.recompute import ranking
from hub.domain.stored import parse_manifest
from tests.domain.hub.broken import ALL, Broken, corrected
from tests.domain.hub.made import MADE, facts, task
from tests.domain.hub.recorded import inputs


@pytest.fixture(scope="module")
def sound() -> dict[str, Any]:
    return codec.plain(assemble(**inputs()))


def refusal(data: bytes) -> list[str]:
    """Places of the problems, by the reader or by the rules."""
    try:
        return [problem.field for problem in consistency(parse_manifest(data))]
    except FormError as error:
        return [problem.field for problem in error.problems]


def test_a_sound_manifest_has_no_problem(sound: dict[str, Any]) -> None:
    assert refusal(json.dumps(sound).encode()) == []


@pytest.mark.parametrize("broken", ALL, ids=lambda broken: broken.name)
def test_each_broken_rule_is_found_where_it_is(sound: dict[str, Any], broken: Broken) -> None:
    manifest = deepcopy(sound)
    broken.change(manifest)
    assert broken.field in refusal(json.dumps(manifest).encode())


def test_values_that_are_no_json_are_found_before_they_are_written() -> None:
    manifest = assemble(**MADE)
    wrong = replace(manifest.results[0], score=float("nan"), coverage=10**400)
    free = {"times": {1, 2}, "no": None, "yes": True, "many": [1.5, "x"], "big": 2**60}
    odd = replace(
        manifest,
        results=(wrong,),
        tasks=(replace(manifest.tasks[0], applicability=free), *manifest.tasks[1:]),
    )
    assert [(problem.field, problem.message) for problem in consistency(odd)] == [
        ("tasks.0.applicability.times", "is no JSON value, but set"),
        ("tasks.0.applicability.big", "must be a number within 2**53"),
        ("results.0.score", "must be a finite number, not nan"),
        ("results.0.coverage", "must be a finite number, not inf"),
    ]


def test_a_correction_that_is_sound(sound: dict[str, Any]) -> None:
    manifest = deepcopy(sound)
    corrected(manifest)
    assert refusal(json.dumps(manifest).encode()) == []


@pytest.mark.parametrize(
    ("scoring", "scores"),
    [
        ({"success_threshold": None}, [0.2, None]),
        ({"score_range": (-5.0, 10.0), "success_threshold": -5.0}, [-1.0, None]),
        ({"agent_failure": "exclude"}, [0.5, None]),
        ({"success_threshold": 0.0}, [0.0, None]),
    ],
)
def test_other_scoring_rules_are_recomputed_too(scoring: dict[str, Any], scores: list[float | None]) -> None:
    release = replace(MADE["release"], scoring=replace(MADE["release"].scoring, **scoring))
    manifest = assemble(**{**MADE, "release": release, "results": [facts(scores=scores)]})
    assert consistency(manifest) == []


def test_only_accepted_results_that_may_rank_have_ranks() -> None:
    manifest = assemble(**inputs())
    ranks = {
        label: rank
        for configured in manifest.configurations
        for label, result in ((configured.label, configured.id),)
        for found in manifest.results
        if found.configuration == result and found.track == "open@1.0.0"
        for rank in (ranking(manifest, "open@1.0.0")[found.id],)
    }
    assert ranks == {"playbook": 1, "sleeper": 2, "brittle": 3}
    first = next(each for each in manifest.results if each.track == "controlled@1.0.0")
    gone = replace(first, status="withdrawn", status_reason="Why.")
    later = replace(manifest, results=tuple(gone if each is first else each for each in manifest.results))
    assert gone.id not in ranking(later, "controlled@1.0.0")
    assert None in ranking(later, "controlled@1.0.0").values()


def test_pending_attempts_and_missing_coverage_keep_from_ranking() -> None:
    track = Track(id="open", name="Open", kind="agents", attempts=2)
    release = replace(MADE["release"], tracks=[track])
    manifest = assemble(**{**MADE, "release": release, "results": [facts(statuses=["succeeded", "running"])]})
    (result,) = manifest.results
    assert not result.eligible
    assert len(result.ineligible_reasons) == 2
    fewer = replace(result, ineligible_reasons=result.ineligible_reasons[:1])
    (problem,) = consistency(replace(manifest, results=(fewer,)))
    assert problem.field == "results.0.ineligible_reasons"
    assert "requires 1." in problem.message and "1 attempt pending" in problem.message


def test_no_interval_needs_a_reason() -> None:
    manifest: Manifest = assemble(**MADE)
    (result,) = manifest.results
    assert result.uncertainty.unavailable_reason
    silent = replace(result, uncertainty=replace(result.uncertainty, unavailable_reason=None))
    (problem,) = consistency(replace(manifest, results=(silent,)))
    assert (problem.field, problem.message) == (
        "results.0.uncertainty",
        "must say why there is no interval",
    )


def test_results_of_two_accounts_may_stand_side_by_side() -> None:
    ours: ResultFacts = facts()
    theirs = replace(
        ours,
        id="res_theirs",
        provenance="independently_reproduced",
        submitted_by=replace(ours.submitted_by, account_id="acc_other", name="Others"),
    )
    manifest = assemble(**{**MADE, "results": [ours, theirs]})
    assert [each.id for each in manifest.results] == ["res_1", "res_theirs"]
    assert len(manifest.configurations) == 1


def test_a_release_of_one_task_without_categories() -> None:
    release = replace(MADE["release"], tasks=[task("a")], categories=[], scoring=Scoring())
    manifest = assemble(**{**MADE, "release": release, "results": [facts(scores=[1.0])]})
    assert consistency(manifest) == []
