"""The next revision of a Benchmark with newer revisions of what it pins."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.domain.types import DomainError
from benchmarks.domain.updates import find_offers
from benchmarks.models import Resource, Revision, TaskPin
from benchmarks.pinned import current_pins, plan_for
from benchmarks.updating import OutdatedPlanError, save_update
from plural_site.accounts.audit_words import sentence
from plural_site.accounts.models import AuditEvent, Project, User
from tests import builders
from tests.builders import BenchmarkSpec, category, make_job, scoring, track
from tests.importing import bring, figures
from tests.newer import benchmark, newer

LIMITS = builders.ENVIRONMENT["limits"]
SPEC = BenchmarkSpec(
    tasks=("one", "two", "three"),
    categories=(category("all", "one", "two"),),
    scoring=scoring(task_weights={"one": 2.0}),
    tracks=(track(max_turns=20),),
)


@pytest.fixture(autouse=True)
def recorded(project: Project, tmp_path: Path) -> None:
    bring(project, make_job(tmp_path, benchmark=SPEC, track_id="open"))


def offered(project: Project) -> list[str]:
    pinned = current_pins(benchmark(project))
    return [offer.key for offer in find_offers(pinned.pins, pinned.newest)]


def planned_hash(project: Project, *taken: str) -> str:
    resource = benchmark(project)
    assert resource.current is not None
    return plan_for(resource, resource.current, current_pins(resource), taken).benchmark.content_hash


def save(project: Project, actor: User, *taken: str) -> Revision:
    found = planned_hash(project, *taken)
    return save_update(actor=actor, resource=benchmark(project), taken=taken, expected_hash=found)


def pins(revision: Revision) -> list[tuple[str, str, int, float]]:
    return [
        (pin.name, pin.version, pin.task_revision.number, pin.weight)
        for pin in TaskPin.objects.filter(revision=revision).select_related("task_revision")
    ]


def test_nothing_is_offered_while_everything_is_the_newest(project: Project) -> None:
    assert offered(project) == []


def test_newer_revisions_make_the_next_one(project: Project, ben: User) -> None:
    newer(project, "task", "one", instructions="Answer one, anew.")
    environment = newer(project, "environment", "desk", limits={**LIMITS, "max_turns": 9})
    assert offered(project) == ["task/one@2", "environment/desk@2"]
    old, before = benchmark(project).current, figures()
    made = save(project, ben, *offered(project))
    assert old is not None
    assert (made.number, made.parent, made.pushed_by, made.version) == (2, old, ben, "")
    assert pins(made) == [("one", "", 3, 2.0), ("two", "", 2, 1.0), ("three", "", 2, 1.0)]
    first = TaskPin.objects.get(revision=made, name="one").task_revision
    assert first.content["instructions"] == "Answer one, anew."
    assert first.content["environment"] == environment.content_hash
    assert {row.current for row in Resource.objects.filter(kind="task")} == {
        pin.task_revision for pin in made.pins.select_related("task_revision")
    }
    assert [row.slug for row in made.categories.all()] == ["all"]
    assert made.tracks.get().rules_hash == old.tracks.get().rules_hash
    resource = benchmark(project)
    assert (resource.current, resource.current_is_chosen) == (made, True)
    assert pins(old) == [("one", "1.0.0", 1, 2.0), ("two", "1.0.0", 1, 1.0), ("three", "1.0.0", 1, 1.0)]
    assert (Revision.objects.with_release().get(pk=old.pk).version, figures()) == ("1.0.0", before)
    assert offered(project) == []


def test_the_revision_is_what_a_job_of_the_same_content_brings(
    project: Project, ben: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Content decides: whoever makes it, it has the hash that the client would give it."""
    changed = {**builders.ENVIRONMENT, "description": "Politely."}
    newer(project, "environment", "desk", description="Politely.")
    newer(project, "verifier", "check", weight=3.0)
    newer(project, "task", "two", instructions="Answer two, anew.")
    made = save(project, ben, *offered(project))
    monkeypatch.setattr(builders, "ENVIRONMENT", changed)
    monkeypatch.setattr(builders, "VERIFIER", {**builders.VERIFIER, "weight": 3.0})
    spec = BenchmarkSpec(
        version="",
        tasks=SPEC.tasks,
        categories=SPEC.categories,
        scoring=SPEC.scoring,
        tracks=SPEC.tracks,
        task_text={"two": "Answer two, anew."},
    )
    folder = make_job(tmp_path / "again", benchmark=spec, track_id="open")
    report = bring(project, folder)
    assert report.landed
    assert made.jobs.get().client_job_id == folder.name
    assert benchmark(project).revisions.count() == 2


def test_only_what_is_taken_changes(project: Project, ben: User) -> None:
    newer(project, "task", "one", instructions="Answer one, anew.")
    newer(project, "verifier", "check", weight=2.0)
    made = save(project, ben, "verifier/check@2")
    assert [number for _, _, number, _ in pins(made)] == [1, 2, 2]
    assert offered(project) == ["task/one@2", "verifier/check@2"]
    again = save(project, ben, *offered(project))
    assert [number for _, _, number, _ in pins(again)] == [3, 2, 2]
    assert again.parent == made


def test_a_task_that_another_made_is_taken_up(project: Project, ben: User) -> None:
    """What two changes have in common is made once."""
    newer(project, "environment", "desk", description="Politely.")
    content = Revision.objects.get(resource__slug="two", number=1).content
    desk = Revision.objects.get(resource__slug="desk", number=2)
    same = newer(project, "task", "two", **{**content, "environment": desk.content_hash})
    made = save(project, ben, *offered(project))
    assert made.pins.get(name="two").task_revision == same
    assert Revision.objects.filter(resource__slug="two").count() == 2


def test_saving_again_is_no_change(project: Project, ben: User) -> None:
    newer(project, "task", "one", instructions="Answer one, anew.")
    expected = planned_hash(project, "task/one@2")
    for _ in range(2):
        made = save_update(
            actor=ben, resource=benchmark(project), taken=["task/one@2"], expected_hash=expected
        )
    assert made.content_hash == expected
    assert benchmark(project).revisions.count() == 2
    event = AuditEvent.objects.get(verb="benchmark.update")
    assert (event.object_digest, event.actor) == (expected, ben)
    assert (
        sentence(event.verb, event.detail, event.object_type, event.object_id)
        == "saved revision 2 of the Benchmark demo-bench, with newer revisions of 1 Task"
    )


def test_what_was_not_shown_is_not_saved(project: Project, ben: User) -> None:
    newer(project, "task", "one", instructions="Answer one, anew.")
    expected = planned_hash(project, "task/one@2")
    newer(project, "task", "one", instructions="And again.")
    with pytest.raises(OutdatedPlanError, match="nothing was saved"):
        save_update(actor=ben, resource=benchmark(project), taken=["task/one@2"], expected_hash=expected)
    assert Revision.objects.filter(resource__kind="benchmark").count() == 1


def test_what_breaks_a_rule_is_refused_with_the_reasons(project: Project, ben: User) -> None:
    newer(project, "environment", "desk", limits={**LIMITS, "max_turns": 21})
    with pytest.raises(DomainError, match="allows 21 turns; track open@1.0.0 allows 20") as refused:
        save(project, ben, "environment/desk@2")
    assert "'three'" in str(refused.value)
    assert Revision.objects.filter(resource__kind__in=("benchmark", "task")).count() == 4


def test_a_revision_that_a_reverted_benchmark_has_already_is_made_current(
    project: Project, ben: User
) -> None:
    newer(project, "task", "one", instructions="Answer one, anew.")
    made = save(project, ben, "task/one@2")
    Resource.objects.filter(kind="benchmark").update(current=made.parent)
    assert save(project, ben, "task/one@2") == made
    assert benchmark(project).current == made


def test_a_task_that_a_person_took_back_stays_taken_back(project: Project, ben: User) -> None:
    """Its current revision is older than the one that the Benchmark pins: nothing of it is newer."""
    newer(project, "task", "one", instructions="Answer one, anew.")
    save(project, ben, "task/one@2")
    first = Revision.objects.get(resource__slug="one", number=1)
    Resource.objects.filter(slug="one").update(current=first)
    newer(project, "verifier", "check", weight=2.0)
    assert offered(project) == ["verifier/check@2"]
    made = save(project, ben, "verifier/check@2")
    assert made.pins.get(name="one").task_revision.number == 3
    assert Resource.objects.get(slug="one").current == first
