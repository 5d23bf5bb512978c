"""Each kind of planted damage is found and named; only derived rows are ever mended."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection, models, transaction
from django.utils import timezone

from benchmarks.models import (
    Category,
    Configuration,
    Dependency,
    Kind,
    Release,
    Resource,
    Revision,
    TaskCategory,
    TaskPin,
    Track,
)
from jobs import search_tables
from jobs.domain.retention import Rule
from jobs.imports import ImportReport
from jobs.integrity import Finding, Scope, checks
from jobs.models import (
    Blob,
    Execution,
    ImportRun,
    Job,
    JobAgent,
    StepChunk,
    StepIndex,
    StepText,
    SupersededTrial,
    Tally,
    TextMark,
    Trial,
    UploadPart,
)
from jobs.retention import set_rule
from jobs.search_texts import index_texts
from jobs.stored_files import StoredFile
from jobs.trimming import apply_rule
from plural_site.accounts.actions import create_project, personal_account
from plural_site.accounts.models import AuditEvent, Machine, Project, User
from plural_site.db import blobs
from plural_site.db.frozen import thaw
from tests.builders import (
    AWAITING_REVIEW,
    START,
    AgentSpec,
    BenchmarkSpec,
    Outcome,
    category,
    make_job,
    track,
)
from tests.importing import bring, figures, stored
from tests.uploading import enqueue

SPEC = BenchmarkSpec(
    categories=(category("all", "first", "second"), category("one", "first")),
    tracks=(track(), track("other")),
    scoring={"task_weights": {"first": 2.0}},
)
FIXED = "sha256:" + "0" * 64
Plant = Callable[[], object]


@pytest.fixture(autouse=True)
def _no_files() -> None:
    for name in ("blobs", "uploads"):
        shutil.rmtree(Path(settings.DATA_DIR) / name, ignore_errors=True)


@pytest.fixture
def site(project: Project, ann: User, tmp_path: Path) -> Project:
    """Two projects with Jobs, one that grew, texts to search, and an upload that waits."""

    def open_still(agent: str, task: str, attempt: int) -> Outcome:
        return AWAITING_REVIEW if task == "first" else Outcome()

    agents = (AgentSpec(name="a", harness="loop"), AgentSpec(name="b", model="sim/two"))
    told: dict[str, Any] = {"benchmark": SPEC, "track_id": "open", "agents": agents, "key": "k"}
    bring(project, make_job(tmp_path / "half", outcomes=open_still, result_json=False, **told))
    bring(project, make_job(tmp_path / "whole", **told))
    other = BenchmarkSpec(purpose="Another.", tracks=(track(),))
    bring(project, make_job(tmp_path / "more", benchmark=other, started=START + timedelta(hours=1)))
    bring(project, make_job(tmp_path / "single", single_task="alone"))
    second = create_project(actor=ann, account=personal_account(ann), slug="second")
    bring(second, make_job(tmp_path / "second", key="s"))
    index_texts(Job.objects.values_list("pk", flat=True))
    enqueue(project, ann, b"not an archive, but it waits")
    return project


def checked(*options: str) -> tuple[bool, str]:
    """Whether nothing is wrong, and all that was printed."""
    out = io.StringIO()
    try:
        call_command("check_integrity", *options, stdout=out, stderr=out)
    except CommandError as error:
        assert error.returncode == 1
        return False, f"{out.getvalue()}{error}"
    return True, out.getvalue()


def test_sound_site_has_nothing_wrong(site: Project) -> None:
    rows = stored()
    for options in ((), ("--quick",), ("--repair",)):
        assert checked(*options)[0], checked(*options)[1]
    assert stored() == rows
    assert "stored files, all well" in checked()[1]


def test_real_jobs_have_nothing_wrong(imported: ImportReport, project: Project, ann: User) -> None:
    index_texts(Job.objects.values_list("pk", flat=True))
    assert checked()[0], checked()[1]
    set_rule(actor=ann, project=project, rule=Rule(None, 2, ("trajectories", "logs")))
    assert list(apply_rule(project, Machine.WORKER))
    assert checked()[0], checked()[1]


# Damage -----------------------------------------------------------------------------------------------


def path_of(digest: str) -> Path:
    name = digest.removeprefix("sha256:")
    return Path(settings.DATA_DIR) / "blobs" / "sha256" / name[:2] / name[2:4] / name


def first(model: type[models.Model], **where: Any) -> Any:
    return model._default_manager.filter(**where).order_by("pk")[0]


def last(model: type[models.Model], **where: Any) -> Any:
    return model._default_manager.filter(**where).order_by("-pk")[0]


def put(model: type[models.Model], values: dict[str, Any] | None = None, **where: Any) -> Any:
    """Changes the first such row, whatever keeps it, and gives it back as it was."""
    row = first(model, **where)
    thaw(connection, [model._meta.db_table])
    model._default_manager.filter(pk=row.pk).update(**(values or {}))
    return row


def unchecked(statement: str, *values: str | int) -> None:
    """Past the references that the database checks."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement, values)


def lists(changed: Callable[[StoredFile], StoredFile], path: str) -> list[list[Any]]:
    """Files of the first execution, with one of them changed."""
    files = [StoredFile(*file) for file in first(Execution).files]
    return [list(changed(file) if file.path == path else file) for file in files]


EVIDENCE: dict[str, tuple[str, Plant, str]] = {
    "blob gone": ("Stored files", lambda: path_of(first(Blob).digest).unlink(), "is not in the store"),
    "blob cut": (
        "Stored files",
        lambda: path_of(first(Blob).digest).write_bytes(b"x"),
        "has 1 bytes in the store, not",
    ),
    "blob flipped": (
        "Stored files",
        lambda: _flip(path_of(first(Execution).pack_id), first(Execution).files[0][2]),
        "holds other bytes than its name says",
    ),
    "file flipped": (
        "Stored files",
        lambda: _flip(path_of(first(Execution).pack_id), first(Execution).files[0][2]),
        "its file result.json is not what its list says",
    ),
    "file list altered": (
        "Stored files",
        lambda: put(Execution, {"files": lists(lambda file: file._replace(digest=FIXED), "logs/stdout.log")}),
        "its file logs/stdout.log is not what its list says",
    ),
    "file outside": (
        "Stored files",
        lambda: put(Execution, {"files": lists(lambda file: file._replace(offset=10**9), "receipt.json")}),
        "its file receipt.json lies outside of",
    ),
    "receipt hash": (
        "Stored files",
        lambda: put(Execution, {"receipt_hash": FIXED}),
        "its receipt does not hash to what was recorded",
    ),
    "result digest": (
        "Results",
        lambda: put(Trial, {"result_digest": FIXED}),
        "its result is not that of the execution that counts",
    ),
    "outcome": (
        "Outcomes",
        lambda: put(Trial, {"outcome": "agent_failure"}),
        "counts as agent_failure, which is not what",
    ),
    "no final execution": (
        "Agreements",
        lambda: put(Execution, {"is_final": False}),
        "has not exactly one execution that counts",
    ),
    "agent of another Job": (
        "Agreements",
        lambda: put(Trial, {"job_agent": last(JobAgent)}),
        "its Agent is of another Job",
    ),
    "task position": (
        "Agreements",
        lambda: put(Trial, {"task_position": 77}, pin__isnull=False),
        "stands at another position than its Task",
    ),
    "pin of another release": (
        "Agreements",
        lambda: put(Trial, {"pin": last(TaskPin)}, pin__isnull=False),
        "its Task is of another release than its Job",
    ),
    "task digest": (
        "Agreements",
        lambda: put(Trial, {"task_digest": FIXED}, pin__isnull=False),
        "ran another content",
    ),
    "job of another project": (
        "Agreements",
        lambda: put(Job, {"revision": last(Revision, resource__kind="benchmark")}, revision__isnull=False),
        "its revision is of another project",
    ),
    "job without source": (
        "Agreements",
        lambda: put(Job, {"task_revision": None}, task_revision__isnull=False),
        "names nothing that it ran",
    ),
    "track unknown": (
        "Agreements",
        lambda: put(Job, {"track_ref": "no@1.0.0"}, track_ref="open@1.0.0"),
        "ran on a track that its release does not have",
    ),
    "agent of another project": (
        "Agreements",
        lambda: put(JobAgent, {"configuration": last(Configuration)}),
        "its Agent is of another project",
    ),
    "superseded pack": (
        "References",
        lambda: put(SupersededTrial, {"packs": [FIXED]}),
        f"refers to {FIXED}, which is not there",
    ),
    "definition": (
        "Definitions",
        lambda: put(Revision, {"definition": '{"a":1}'}, resource__kind="task"),
        "its definition hashes to",
    ),
    "definition unreadable": (
        "Definitions",
        lambda: put(Revision, {"definition": "no JSON"}, resource__kind="task"),
        "its definition can't be read",
    ),
    "definition not canonical": (
        "Definitions",
        lambda: put(
            Revision,
            {"definition": first(Revision, resource__kind="task").definition.replace(":", ": ", 1)},
            resource__kind="task",
        ),
        "not written in the canonical form",
    ),
    "configuration": (
        "Definitions",
        lambda: put(Configuration, {"content_hash": FIXED}),
        f"not to {FIXED}",
    ),
    "configuration's model": (
        "Definitions",
        lambda: put(Configuration, {"model": "another"}),
        "its model is not that of its definition",
    ),
    "track rules": (
        "Definitions",
        lambda: put(Track, {"rules_hash": FIXED}),
        "its tracks are not those of its definition",
    ),
    "category": (
        "Definitions",
        lambda: put(Category, {"slug": "renamed"}),
        "its Categories are not those of its definition",
    ),
    "weight": (
        "Definitions",
        lambda: put(TaskPin, {"weight": 9.0}),
        "its weight is not that of the definition",
    ),
    "pin digest": (
        "Agreements",
        lambda: put(TaskPin, {"task_digest": FIXED}),
        "its digest is not that of its Task",
    ),
    "pinned task": (
        "Agreements",
        lambda: put(TaskPin, {"task_revision": last(Revision, resource__kind="task")}),
        "its Task is of another project",
    ),
    "release of another": (
        "Agreements",
        lambda: put(Release, {"resource": last(Resource), "version": "9.9.9"}),
        "its revision is of another resource",
    ),
    "parent of another": (
        "Agreements",
        lambda: put(Revision, {"parent": last(Revision)}, number=2),
        "its parent is of another resource",
    ),
    "current of another": (
        "Agreements",
        lambda: put(Resource, {"current": last(Revision)}, current__isnull=False),
        "its current revision is of another resource",
    ),
    "need of another": (
        "Agreements",
        lambda: put(Dependency, {"depends_on": last(Revision)}),
        "its need is of another project",
    ),
    "task of another category": (
        "Agreements",
        lambda: put(TaskCategory, {"pin": last(TaskPin)}),
        "its Task is of another release",
    ),
    "dangling reference": (
        "References",
        lambda: unchecked("UPDATE jobs_trial SET job_agent_id = 987654 WHERE id = %s", first(Trial).pk),
        "job_agent refers to a row that is not there",
    ),
    "dangling text reference": (
        "References",
        lambda: unchecked("UPDATE jobs_job SET pack_id = %s WHERE id = %s", FIXED, first(Job).pk),
        "pack refers to a row that is not there",
    ),
    "trigger gone": (
        "Frozen tables",
        lambda: thaw(connection, [AuditEvent._meta.db_table]),
        "is missing or disabled: run manage.py migrate",
    ),
    "upload part": (
        "Uploads",
        lambda: put(UploadPart, {"digest": FIXED}),
        "missing or not what was uploaded",
    ),
    "upload part gone": (
        "Uploads",
        lambda: shutil.rmtree(Path(settings.DATA_DIR) / "uploads"),
        "missing or not what was uploaded",
    ),
}


def _flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


@contextmanager
def planted(plant: Plant) -> Iterator[None]:
    """Undone at the end, before the database looks at its references."""
    folders = [Path(settings.DATA_DIR) / name for name in ("blobs", "uploads")]
    kept = {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}
    with transaction.atomic():
        plant()
        yield
        transaction.set_rollback(True)
    for path, data in kept.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def found(name: str, *, mends: bool = False) -> list[Finding]:
    """What one check finds."""
    (check,) = [(looked, check) for known, looked, check in checks() if known == name]
    return list(check[1](Scope(False, mends, lambda text: None), check[0]))


def test_damaged_evidence_is_found_and_left(site: Project) -> None:
    missed = []
    for what, (name, plant, message) in EVIDENCE.items():
        with planted(plant):
            said = found(name, mends=True)
        if not any(message in one.message and not (one.is_mended or one.is_note) for one in said):
            missed.append(f"{what}: {said}")
    assert missed == []
    assert {name for name, _, _ in EVIDENCE.values()} >= {"Agreements", "Definitions", "References"}
    with planted(EVIDENCE["outcome"][1]):
        is_well, said_all = checked("--repair")
        assert (is_well, "1 problem" in said_all) == (False, True)
    assert checked()[0], checked()[1]


def _odd_text() -> None:
    StepText.objects.filter(pk=first(StepText).pk).update(folded="something else")


DERIVED: dict[str, tuple[str, Plant, str]] = {
    "tally": (
        "Leaderboards",
        lambda: put(Tally, {"score": 0.123}),
        "1 figures differ from what the Trials give",
    ),
    "tally's words": (
        "Leaderboards",
        lambda: put(Tally, {"reasons": ["none"]}, scope="overall"),
        "1 figures differ from what the Trials give",
    ),
    "tally gone": ("Leaderboards", lambda: first(Tally).delete(), "1 figures are missing"),
    "tally of nothing": (
        "Leaderboards",
        lambda: put(Tally, {"key": "no such Task"}, scope="task"),
        "1 figures are of nothing that counts there",
    ),
    "agent's count": (
        "Jobs",
        lambda: put(JobAgent, {"recorded": 99}),
        "figures of its Agent 1 differ: recorded",
    ),
    "agent's cost": (
        "Jobs",
        lambda: put(JobAgent, {"cost_total": 99.0}),
        "figures of its Agent 1 differ: cost_total",
    ),
    "agent's figures": (
        "Jobs",
        lambda: put(JobAgent, {"figures": {**first(JobAgent).figures, "runner": {}}}),
        "figures of its Agent 1 differ: figures",
    ),
    "job's count": ("Jobs", lambda: put(Job, {"recorded": 0}), "its number of Trials or its cost differs"),
    "job's size": ("Jobs", lambda: put(Job, {"size": 1}), "what its files take differs"),
    "job's sizes": ("Jobs", lambda: put(Job, {"sizes": {}}), "what its files take differs"),
    "step index": (
        "Step indexes",
        lambda: put(StepIndex, {"facts": {**first(StepIndex).facts, "digest": FIXED}}),
        "is of a file that is not there any more",
    ),
    "steps gone": ("Step indexes", lambda: first(StepChunk).delete(), "lacks some of its steps"),
    "mark of another": (
        "Search",
        lambda: put(TextMark, {"index": last(StepIndex)}),
        "is of another execution",
    ),
    "text of another": (
        "Search",
        lambda: put(StepText, {"trial": last(Trial)}),
        "some of its texts are of another Trial",
    ),
    "text folded": ("Search", _odd_text, "some of its texts can't be found by what they say"),
}


def test_damaged_figures_are_found_and_mended(site: Project) -> None:
    before, missed = figures(), []
    for what, (name, plant, message) in DERIVED.items():
        with planted(plant):
            if not any(message in one.message and not one.is_mended for one in found(name)):
                missed.append(f"{what}: {found(name)}")
            said = found(name, mends=True)
            if not all(one.is_mended for one in said) or not any(message in one.message for one in said):
                missed.append(f"{what} is not mended: {said}")
            if found(name) or figures() != before:
                missed.append(f"{what} is wrong after it: {found(name)}")
    assert missed == []
    with planted(DERIVED["tally"][1]):
        is_well, said_all = checked("--quick", "--repair")
        assert is_well
        assert "mended: " in said_all
        assert "Nothing is wrong, 1 mended." in said_all


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL keeps its index itself")
def test_index_over_texts_is_compared_and_made_anew(site: Project) -> None:
    def unindexed() -> None:
        with connection.cursor() as cursor:
            for verb in ("insert", "update", "delete"):
                cursor.execute(f"DROP TRIGGER {search_tables.INDEX}_{verb}")
        row = first(StepText)
        StepText.objects.filter(pk=row.pk).update(text="unheard of words", folded="unheard of words")

    with planted(unindexed):
        assert "the index over texts is not that of the texts" in checked()[1]
        assert checked("--repair")[0]
        assert checked()[0]
    with planted(lambda: search_tables.uninstall(connection)):
        assert "the index over texts is missing" in checked()[1]
        assert checked("--repair")[0]


def test_what_imports_left_that_died_is_noted_and_collected(site: Project) -> None:
    stray = blobs.put(io.BytesIO(b"of nobody"))
    Blob.objects.create(digest=FIXED, size=3)
    job = first(Job)
    values = {field.attname: getattr(job, field.attname) for field in Job._meta.concrete_fields}
    del values["id"]
    Job.objects.create(
        **(values | {"client_job_id": "job_half", "state": "importing", "import_run_id": None})
    )
    with pytest.raises(CommandError):
        call_command("check_integrity", stdout=io.StringIO(), stderr=io.StringIO())
    path_of(FIXED).parent.mkdir(parents=True)
    path_of(FIXED).write_bytes(b"abc")
    said = checked("--quick")[1]
    assert f"note: {stray}: is in the store, and no row names it" in said
    assert f"note: {FIXED}: nothing refers to it" in said
    assert "is half written; the next import removes it" in said
    assert "See the notes." in said
    call_command("collect_files", stdout=io.StringIO())
    assert not blobs.exists(stray)
    assert Blob.objects.filter(pk=FIXED).exists()  # it may be of an import that is just beginning
    with transaction.atomic():
        thaw(connection, [Blob._meta.db_table])
        Blob.objects.filter(pk=FIXED).update(created_at=timezone.now() - timedelta(hours=2))
    call_command("collect_files", stdout=io.StringIO())
    assert not Blob.objects.filter(pk=FIXED).exists()
    assert not blobs.exists(FIXED)
    assert "note" not in checked("--quick")[1]


def test_nothing_is_collected_while_an_import_runs(site: Project) -> None:
    ImportRun.objects.create(
        project=site, source="x", beat_at=timezone.now(), status="running", host="elsewhere", lock="x"
    )
    with pytest.raises(CommandError, match="An import is running"):
        call_command("collect_files", stdout=io.StringIO())


def test_harness_without_a_digest_is_no_problem(site: Project) -> None:
    resource = Resource.objects.create(project=site, kind=Kind.HARNESS, slug="of-files", name="of files")
    Revision.objects.create(
        resource=resource, number=1, content_hash=FIXED, definition='{"source":{"kind":"git"}}'
    )
    is_well, said = checked("--quick")
    assert is_well
    assert "note: harnesses: 1 can't be hashed again" in said


def test_many_findings_are_counted_and_not_all_printed(site: Project) -> None:
    values = {field.attname: getattr(first(Trial), field.attname) for field in Trial._meta.concrete_fields}
    del values["id"]

    def many() -> None:
        told = [{"client_trial_id": f"t{n}", "attempt": n + 9, "outcome": "cancelled"} for n in range(60)]
        Trial.objects.bulk_create(Trial(**(values | more)) for more in told)

    with planted(many):
        said = checked("--quick")[1]
    assert "Outcomes: and 40 more" in said
    assert "60 wrong" in said
