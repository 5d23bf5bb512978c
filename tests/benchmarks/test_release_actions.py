"""A version given to a revision: what it changes, what it leaves, and who is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import transaction

from benchmarks.actions import release_revision
from benchmarks.domain.releasing import ReleaseRefusedError
from benchmarks.models import Release, Resource, Revision
from plural_site.accounts.actions import create_api_key
from plural_site.accounts.audit_words import sentence
from plural_site.accounts.models import AuditEvent, Project, User
from tests.builders import BenchmarkSpec, make_job, scoring, track
from tests.importing import bring

SPEC = BenchmarkSpec(tracks=(track(),), scoring=scoring())
OTHER = BenchmarkSpec(tracks=(track(),), scoring=scoring(), task_text={"first": "Answer anew."})


@pytest.fixture
def second(project: Project, tmp_path: Path) -> Revision:
    """Revision 2 of the Benchmark, which claims 1.0.0, the version of revision 1."""
    bring(project, make_job(tmp_path / "1", benchmark=SPEC, track_id="open"))
    bring(project, make_job(tmp_path / "2", benchmark=OTHER, track_id="open", key="2"))
    Resource.objects.filter(kind="benchmark").update(readme="# Demo")
    found = Revision.objects.with_release().select_related("resource")
    return found.get(resource__kind="benchmark", number=2)


def test_a_version_is_given_once_and_told(project: Project, ben: User, second: Revision) -> None:
    before = Resource.objects.values_list("pk", "current", "current_is_chosen")
    was = list(before)
    release = release_revision(actor=ben, revision=second, version="1.1.0")
    assert (release.revision_id, release.version, release.resource_id) == (
        second.pk,
        "1.1.0",
        second.resource_id,
    )
    assert list(before) == was
    event = AuditEvent.objects.get(verb="revision.release")
    assert (event.actor, event.project, event.object_digest) == (ben, project, second.content_hash)
    assert (
        sentence(event.verb, event.detail, event.object_type, event.object_id)
        == "released revision 2 of the benchmark demo-bench as 1.1.0"
    )
    assert release_revision(actor=ben, revision=second, version="1.1.0") == release
    assert AuditEvent.objects.filter(verb="revision.release").count() == 1


@pytest.mark.parametrize(("version", "is_conflict"), [("1.0.0", True), ("2", False), ("", False)])
def test_a_version_that_can_not_be_given_leaves_nothing(
    ben: User, second: Revision, version: str, *, is_conflict: bool
) -> None:
    with pytest.raises(ReleaseRefusedError) as refused, transaction.atomic():
        release_revision(actor=ben, revision=second, version=version)
    assert refused.value.is_conflict == is_conflict
    assert Release.objects.filter(resource=second.resource).count() == 1
    assert not AuditEvent.objects.filter(verb="revision.release").exists()


def test_a_second_version_is_refused(ben: User, second: Revision) -> None:
    release_revision(actor=ben, revision=second, version="1.1.0")
    with pytest.raises(ReleaseRefusedError, match=r"as 1\.1\.0 already") as refused:
        release_revision(actor=ben, revision=second, version="1.2.0")
    assert refused.value.is_conflict


def test_a_benchmark_without_readme_is_refused_and_a_task_is_not(ben: User, second: Revision) -> None:
    Resource.objects.filter(pk=second.resource_id).update(readme="")
    second.refresh_from_db()
    with pytest.raises(ReleaseRefusedError, match=r"README\.md is missing"):
        release_revision(actor=ben, revision=second, version="1.1.0")
    task = Revision.objects.get(resource__kind="task", release=None)
    assert release_revision(actor=ben, revision=task, version="1.1.0").revision == task


def test_a_key_releases_for_its_person(project: Project, ben: User, second: Revision) -> None:
    key, _ = create_api_key(actor=ben, account=project.account, project=project)
    release_revision(actor=key, revision=second, version="1.1.0")
    assert AuditEvent.objects.get(verb="revision.release").actor_key == key
