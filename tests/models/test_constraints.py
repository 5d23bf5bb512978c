"""What the database itself refuses, whichever it is: every constraint once, every frozen table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import IntegrityError, connection, models, transaction

from benchmarks.models import (
    Category,
    Configuration,
    Dependency,
    Release,
    Resource,
    Revision,
    TaskCategory,
    TaskPin,
    Track,
)
from hub.models import Draft, Facet, Manifest, ManifestRecord, Publication, PublishedResult
from jobs.models import (
    Blob,
    Execution,
    ImportRun,
    Job,
    JobAgent,
    RetentionRule,
    StepChunk,
    StepIndex,
    StepText,
    Tally,
    Trial,
    UploadPart,
)
from plural_site.accounts.actions import create_project
from plural_site.accounts.models import Project, User
from plural_site.db.frozen import frozen_tables
from tests.builders import START, AgentSpec, BenchmarkSpec, category, make_job, track
from tests.importing import bring
from tests.publishing import hub_rows

OTHER_HASH = "sha256:" + "0" * 64
NO_HASH = "sha256:" + "0" * 63 + "\n"


@pytest.fixture
def rows(project: Project, ann: User, tmp_path: Path) -> None:
    """A Job that leaves a row in every table, and another whose content claims a version that is taken."""
    spec = BenchmarkSpec(categories=(category("all", "first", "second"),), tracks=(track(),))
    agents = [AgentSpec(name="a", harness="loop"), AgentSpec(name="b", model="sim/two")]
    make_job(tmp_path, benchmark=spec, agents=agents, track_id="open")
    make_job(tmp_path, benchmark=BenchmarkSpec(purpose="Another."))
    bring(project, tmp_path)
    ImportRun.objects.update(status="running")
    UploadPart.objects.create(run=ImportRun.objects.get(), number=0, size=1, digest=OTHER_HASH, name="0")
    RetentionRule.objects.create(project=project, keep_days=1, kinds=["logs"], set_at=START)
    create_project(actor=ann, account=project.account, slug="another")
    trial = Trial.objects.earliest("pk")
    index = StepIndex.objects.create(
        execution=trial.executions.get(), path="steps.json", format="atif", version=1, steps=1
    )
    StepChunk.objects.create(index=index, number=0, rows=[])
    StepText.objects.create(job=trial.job, trial=trial, index=index, step=0, part=0, text="words")
    hub_rows(Resource.objects.benchmarks().earliest("pk"))


def again(model: type[models.Model], **changes: Any) -> None:
    """A row of the model once more, but for these fields."""
    row = model._default_manager.order_by("pk").first()
    assert row is not None, f"there is no {model.__name__}"
    values = {field.attname: getattr(row, field.attname) for field in model._meta.concrete_fields}
    if not model._meta.pk.is_relation and isinstance(model._meta.pk, models.AutoField):
        del values[model._meta.pk.attname]
    model._default_manager.create(**(values | changes))


def of(model: type[models.Model], **changes: Any) -> tuple[type[models.Model], dict[str, Any]]:
    return model, changes


CASES = {
    "resource_project_kind_slug": of(Resource),
    "resource_kind": of(Resource, kind="planet", slug="new"),
    "revision_resource_hash": of(Revision, number=9),
    "revision_resource_number": of(Revision, content_hash=OTHER_HASH),
    "revision_number": of(Revision, number=0, content_hash=OTHER_HASH),
    "revision_hash_form": of(Revision, number=9, content_hash=NO_HASH),
    "dependency_pair": of(Dependency),
    "dependency_not_self": of(Dependency, depends_on_id="revision_id"),
    "release_version": of(Release, revision_id="another"),
    "release_version_form": of(Release, revision_id="another", version="12"),
    "taskpin_name": of(TaskPin, position=9),
    "taskpin_position": of(TaskPin, name="new"),
    "taskpin_weight": of(TaskPin, position=9, name="new", weight=0.0),
    "taskpin_digest_form": of(TaskPin, position=9, name="new", task_digest=NO_HASH),
    "category_slug": of(Category),
    "taskcategory_pair": of(TaskCategory),
    "track_revision_id": of(Track),
    "track_kind": of(Track, track_id="new", kind="people"),
    "track_attempts": of(Track, track_id="new", attempts=33),
    "track_hash_form": of(Track, track_id="new", rules_hash=NO_HASH),
    "configuration_hash": of(Configuration),
    "configuration_hash_form": of(Configuration, content_hash=NO_HASH),
    "blob_digest_form": of(Blob, digest=NO_HASH),
    "importrun_status": of(ImportRun, status="asleep"),
    "importrun_one_at_a_time": of(ImportRun),
    "retentionrule_days": of(RetentionRule, keep_days=0, project_id="another project"),
    "retentionrule_newest": of(RetentionRule, keep_newest=0, project_id="another project"),
    "retentionrule_has_bound": of(RetentionRule, keep_days=None, project_id="another project"),
    "job_client_id": of(Job),
    "job_state": of(Job, client_job_id="new", state="lost"),
    "job_origin": of(Job, client_job_id="new", origin="dreamt"),
    "job_set_aside_has_reason": of(Job, client_job_id="new", set_aside_at=START),
    "job_closed_has_reason": of(Job, client_job_id="new", closed_reason="It was killed."),
    "jobagent_position": of(JobAgent),
    "trial_place": of(Trial, client_trial_id="new"),
    "trial_client_id": of(Trial, attempt=9),
    "trial_finite": of(Trial, client_trial_id="new", attempt=9, latency_seconds=float("inf")),
    "trial_scored_has_score": of(Trial, client_trial_id="new", attempt=9, score=None),
    "trial_cost": of(Trial, client_trial_id="new", attempt=9, cost_usd=-0.01),
    "trial_outcome": of(Trial, client_trial_id="new", attempt=9, outcome="splendid"),
    "execution_number": of(Execution),
    "tally_key": of(Tally),
    "tally_scope": of(Tally, scope="universe"),
    "stepindex_file": of(StepIndex),
    "stepchunk_number": of(StepChunk),
    "steptext_part": of(StepText),
    "uploadpart_number": of(UploadPart),
    "publication_address": of(Publication, resource_id=None),
    "publication_slug": of(Publication, resource_id=None, slug="No-slug"),
    "publication_account": of(Publication, resource_id=None, account_slug=""),
    "draft_of_person": of(Draft),
    "draft_reached": of(Draft, reached=6, person_id="stranger"),
    "draft_candidate_is_whole": of(Draft, candidate_digest=OTHER_HASH, person_id="stranger"),
    "manifest_digest_form": of(Manifest, digest=NO_HASH),
    "manifest_has_version": of(Manifest, digest=OTHER_HASH, version=""),
    "manifestrecord_sequence": of(ManifestRecord, manifest_id="unrecorded", digest=OTHER_HASH),
    "manifestrecord_first_has_no_previous": of(
        ManifestRecord, manifest_id="unrecorded", digest=OTHER_HASH, sequence=2
    ),
    "manifestrecord_kind": of(
        ManifestRecord, manifest_id="unrecorded", digest=OTHER_HASH, version="2", kind="boast", reason="Why."
    ),
    "manifestrecord_reason": of(
        ManifestRecord, manifest_id="unrecorded", digest=OTHER_HASH, version="2", kind="correct"
    ),
    "manifestrecord_digest_form": of(ManifestRecord, manifest_id="unrecorded", digest=NO_HASH, version="2"),
    "publishedresult_id": of(PublishedResult),
    "publishedresult_finite": of(PublishedResult, result_id="res_2", score=float("inf")),
    "publishedresult_status": of(PublishedResult, result_id="res_2", status="famous"),
    "publishedresult_provenance": of(PublishedResult, result_id="res_2", provenance="heard"),
    "facet_once": of(Facet),
    "facet_kind": of(Facet, kind="colour"),
}


def constraints() -> Iterator[tuple[type[models.Model], models.BaseConstraint]]:
    for label in ("benchmarks", "jobs", "hub"):
        for model in apps.get_app_config(label).get_models():
            for constraint in model._meta.constraints:
                yield model, constraint


def test_every_constraint_has_a_case() -> None:
    assert {constraint.name for _, constraint in constraints()} == set(CASES)


def resolved(model: type[models.Model], changes: dict[str, Any]) -> dict[str, Any]:
    """Stand-ins for keys that are known only when the rows are there."""
    row = model._default_manager.order_by("pk").first()
    stand_ins = {
        "revision_id": getattr(row, "revision_id", None),
        "another project": Project.objects.exclude(slug="triage").earliest("pk").pk,
        "another": Revision.objects.filter(release__isnull=True).earliest("pk").pk,
        "unrecorded": Manifest.objects.latest("pk").pk,
        "stranger": get_user_model().objects.exclude(drafts__isnull=False).earliest("pk").pk,
    }
    return {key: stand_ins.get(str(value), value) for key, value in changes.items()}


def names(error: IntegrityError, model: type[models.Model], constraint: models.BaseConstraint) -> bool:
    """Whether the database blames this constraint; SQLite names only the columns of a unique one."""
    text = str(error)
    if not isinstance(constraint, models.UniqueConstraint) or connection.vendor == "postgresql":
        return constraint.name in text
    columns = [f"{model._meta.db_table}.{model._meta.get_field(name).column}" for name in constraint.fields]  # type: ignore[union-attr]
    return text == f"UNIQUE constraint failed: {', '.join(columns)}"


def test_every_constraint_refuses(rows: None) -> None:
    unrefused = []
    for model, constraint in constraints():
        _, changes = CASES[constraint.name]
        try:
            with transaction.atomic():
                again(model, **resolved(model, changes))
        except IntegrityError as error:
            if names(error, model, constraint):
                continue
            unrefused.append(f"{constraint.name}: {error}")
        else:
            unrefused.append(constraint.name)
    assert unrefused == []


def test_not_a_number_is_refused_as_a_score(rows: None) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        again(Trial, client_trial_id="new", attempt=9, score=float("nan"))


FROZEN = {
    model._meta.db_table: model for model in apps.get_models() if model._meta.db_table in frozen_tables()
}
CHANGES: dict[str, Callable[[models.QuerySet[Any]], object]] = {
    "update": lambda found: found.update(
        **{(name := found.model._meta.concrete_fields[-1].attname): models.F(name)}
    ),
    "delete": lambda found: found._raw_delete(using="default"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_frozen_table_refuses(change: str, rows: None) -> None:
    assert set(FROZEN) == frozen_tables()
    for table, model in FROZEN.items():
        before = model._default_manager.count()
        assert before, f"{table} has no row to try"
        with pytest.raises(IntegrityError, match=f"{table} is frozen"), transaction.atomic():
            CHANGES[change](model._default_manager.all())
        assert model._default_manager.count() == before
