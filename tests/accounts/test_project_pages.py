"""Making, renaming, archiving and deleting projects."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchmarks.models import Configuration, Resource, Revision
from jobs.models import Blob, Execution, ImportRun, Job, SupersededTrial, Tally, Trial
from plural_site.accounts.access import authenticate_key
from plural_site.accounts.actions import create_api_key, create_project, personal_account, record
from plural_site.accounts.models import ApiKey, AuditEvent, Invitation, Project, ProjectMembership, User
from plural_site.db import blobs
from plural_site.db.frozen import missing_triggers
from tests.builders import AWAITING_REVIEW, AgentSpec, BenchmarkSpec, Outcome, category, make_job, track
from tests.importing import bring, files_below, stored

if TYPE_CHECKING:
    from tests.conftest import ClientAs


def test_project_is_made_with_the_slug_of_its_name(ann: User, client_as: ClientAs) -> None:
    browser = client_as(ann)
    path = "/accounts/ann/projects/new"
    assert browser.get("/account/projects/new").headers["Location"] == path
    assert browser.post(path, {"name": "Support triage!"}).headers["Location"] == "/projects/support-triage"
    assert browser.post(path, {"name": "Support triage!"}).headers["Location"] == "/projects/support-triage-2"
    assert browser.post(path, {"name": "日本"}).headers["Location"] == "/projects/project"
    assert Project.objects.get(slug="support-triage").name == "Support triage!"


def test_taken_slug_is_answered_with_a_free_one_in_the_form(
    project: Project, dee: User, client_as: ClientAs
) -> None:
    page = client_as(dee).post("/accounts/dee/projects/new", {"name": "Mine", "slug": "triage"})
    text = page.content.decode()
    assert "is taken" in text
    assert 'value="triage-2"' in text
    assert 'value="Mine"' in text
    assert Project.objects.count() == 1


@pytest.mark.parametrize("slug", ["A", "a b", "-a", "a/b", "ä", "\0"])
def test_bad_slug_is_refused_beside_its_field(slug: str, ann: User, client_as: ClientAs) -> None:
    page = client_as(ann).post("/accounts/ann/projects/new", {"name": "x", "slug": slug})
    assert page.status_code == 200
    assert 'aria-invalid="true"' in page.content.decode()
    assert not Project.objects.exists()


def test_rename_keeps_the_slug_and_is_logged(project: Project, ann: User, client_as: ClientAs) -> None:
    browser = client_as(ann)
    browser.post("/projects/triage/settings", {"name": "<b>New</b>", "notice": "Careful."})
    project.refresh_from_db()
    assert (project.name, project.slug, project.notice) == ("<b>New</b>", "triage", "Careful.")
    assert "&lt;b&gt;New&lt;/b&gt;" in browser.get("/projects/triage/settings").content.decode()
    browser.post("/projects/triage/settings", {"name": "<b>New</b>", "notice": "Careful."})
    assert AuditEvent.objects.filter(verb="project.change", project=project).count() == 1


def test_archived_project_is_read_only_until_it_is_brought_back(
    project: Project, ann: User, ben: User, client_as: ClientAs
) -> None:
    browser = client_as(ann)
    for _ in range(2):
        assert browser.post("/projects/triage/settings/archive", {"archived": "yes"}).status_code == 302
    project.refresh_from_db()
    assert project.archived_at is not None
    assert "archived since" in browser.get("/projects/triage/settings").content.decode()
    assert browser.post("/projects/triage/settings", {"name": "x"}).status_code == 403
    assert browser.post("/projects/triage/settings/members", {"role": "viewer"}).status_code == 403
    assert browser.get("/projects/triage").status_code == 200
    assert browser.post(f"/projects/triage/settings/members/{ben.pk}/remove").status_code == 302
    browser.post("/projects/triage/settings/archive", {"archived": "no"})
    assert browser.post("/projects/triage/settings", {"name": "x"}).status_code == 302
    verbs = AuditEvent.objects.filter(verb__in=("project.archive", "project.unarchive"))
    assert verbs.count() == 2


def spec(name: str = "demo-bench") -> BenchmarkSpec:
    return BenchmarkSpec(slug=name, categories=(category("all", "first", "second"),), tracks=(track(),))


def counts() -> dict[str, int]:
    models = (
        Resource,
        Revision,
        Configuration,
        Job,
        Trial,
        Execution,
        SupersededTrial,
        Tally,
        Blob,
        ImportRun,
    )
    return {model.__name__: model._default_manager.count() for model in models}


def grown(project: Project, folder: Path) -> None:
    """A Job that came twice, the second time with a Trial that had been reviewed."""
    for name, outcome in (("before", AWAITING_REVIEW), ("after", Outcome(score=0.5))):

        def outcomes(agent: str, task: str, attempt: int, first: Outcome = outcome) -> Outcome | float:
            return first if task == "first" else 1.0

        job = make_job(folder / name, benchmark=spec(), track_id="open", key="grown", outcomes=outcomes)
        bring(project, job)


def test_deleting_takes_everything_of_the_project_and_nothing_else(
    project: Project, ann: User, ben: User, tmp_path: Path, client_as: ClientAs
) -> None:
    other = create_project(actor=ann, account=personal_account(ann), slug="other")
    shared = make_job(tmp_path / "shared", benchmark=spec(), track_id="open")
    before_files = files_below("blobs")
    bring(other, shared)
    kept, kept_files = stored(), files_below("blobs")
    bring(project, shared)  # the same bytes in both
    bring(
        project,
        make_job(
            tmp_path / "own", benchmark=spec("own-bench"), track_id="open", agents=(AgentSpec(name="x"),)
        ),
    )
    grown(project, tmp_path)
    assert SupersededTrial.objects.exists()
    assert len(files_below("blobs")) > len(kept_files) > len(before_files)
    browser = client_as(ann)
    page = browser.get("/projects/triage/settings/delete").content.decode()
    for label in ("Benchmarks", "Jobs", "Trials", "Bytes in files"):
        assert f"<dt>{label}</dt>" in page

    wrong = browser.post("/projects/triage/settings/delete", {"slug": "Triage"})
    assert "Type the project" in wrong.content.decode()
    assert Project.objects.filter(slug="triage").exists()
    assert browser.post("/projects/triage/settings/delete", {"slug": "triage"}).headers["Location"] == "/"
    assert not Project.objects.filter(slug="triage").exists()
    assert stored() == kept
    assert files_below("blobs") == kept_files
    assert missing_triggers(connection) == []
    assert browser.get("/projects/triage").status_code == 404
    assert not ProjectMembership.objects.filter(user=ben).exists()
    assert browser.get("/projects/other").status_code == 200


def test_audit_log_and_keys_outlive_the_project(
    project: Project, ann: User, ben: User, client_as: ClientAs
) -> None:
    key, secret = create_api_key(actor=ben, account=project.account, project=project, label="ci")
    wide, wide_secret = create_api_key(actor=ann, account=project.account)
    record(key, "job.import", project, project=project)
    client_as(ann).post("/projects/triage/settings/members", {"role": "viewer"})
    events = AuditEvent.objects.filter(project=project).count()
    page = client_as(ann).post("/projects/triage/settings/delete", {"slug": "triage"}, follow=True)
    assert "The project triage is deleted." in page.content.decode()
    left = AuditEvent.objects.filter(project_slug="triage", project=None, account=project.account)
    assert left.count() == events
    gone = AuditEvent.objects.get(verb="project.delete")
    assert (gone.account, gone.detail["slug"]) == (project.account, "triage")
    assert set(gone.detail["removed"]) >= {"Jobs", "Trials", "Benchmarks"}
    key.refresh_from_db()
    assert (key.project, key.deleted_project) == (None, "triage")
    assert key.revoked_at is not None
    assert authenticate_key(secret) is None  # not a key for the whole account now
    assert authenticate_key(wide_secret) == wide
    assert not Invitation.objects.exists()
    log = client_as(ann).get("/accounts/ann/audit").content.decode()
    assert "triage, deleted" in log
    assert "deleted the project triage" in log


def test_manager_who_owns_no_account_can_not_delete(project: Project, ben: User, client_as: ClientAs) -> None:
    ProjectMembership.objects.filter(user=ben).update(role="manager")
    browser = client_as(ben)
    assert browser.get("/projects/triage/settings/delete").status_code == 403
    assert browser.post("/projects/triage/settings/delete", {"slug": "triage"}).status_code == 403
    assert "Only owners of the account" in browser.get("/projects/triage/settings").content.decode()


def test_project_is_not_deleted_under_a_running_import(
    project: Project, ann: User, client_as: ClientAs
) -> None:
    run = ImportRun.objects.create(
        project=project, source="x", host="elsewhere", lock="0" * 32, beat_at=timezone.now()
    )
    browser = client_as(ann)
    assert (
        "An import into this project is running"
        in browser.get("/projects/triage/settings/delete").content.decode()
    )
    page = browser.post("/projects/triage/settings/delete", {"slug": "triage"}).content.decode()
    assert "An import into this project is running" in page
    assert Project.objects.filter(slug="triage").exists()
    ImportRun.objects.filter(pk=run.pk).update(beat_at=timezone.now() - timedelta(hours=2))
    assert browser.post("/projects/triage/settings/delete", {"slug": "triage"}).status_code == 302


def test_files_wait_while_another_import_runs_and_are_collected_later(
    project: Project, ann: User, tmp_path: Path, client_as: ClientAs
) -> None:
    before = files_below("blobs")
    bring(project, make_job(tmp_path / "own", benchmark=spec("only-here"), track_id="open"))
    own = files_below("blobs") - before
    other = create_project(actor=ann, account=personal_account(ann), slug="other")
    run = ImportRun.objects.create(
        project=other, source="x", host="elsewhere", lock="0" * 32, beat_at=timezone.now()
    )
    client_as(ann).post("/projects/triage/settings/delete", {"slug": "triage"})
    assert own <= files_below("blobs")
    assert not Blob.objects.exists()
    with pytest.raises(CommandError, match="import is running"):
        call_command("collect_files")
    run.delete()
    call_command("collect_files")
    assert not own & files_below("blobs")
    assert list(blobs.stored()) == []


def test_delete_page_takes_the_same_queries_for_any_number_of_jobs(
    project: Project,
    ann: User,
    tmp_path: Path,
    client_as: ClientAs,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    browser = client_as(ann)
    for number in (1, 4):
        for key in range(number):
            make_job(tmp_path / str(number), benchmark=spec(), track_id="open", key=f"{number} {key}")
        bring(project, tmp_path / str(number))
        with django_assert_num_queries(2 + 1 + 5 + 3 + 1):
            browser.get("/projects/triage/settings/delete")


def test_settings_are_linked_for_managers_only(
    project: Project, ann: User, ben: User, client_as: ClientAs
) -> None:
    assert 'href="/projects/triage/settings"' in client_as(ann).get("/projects/triage").content.decode()
    assert 'href="/projects/triage/settings"' not in client_as(ben).get("/projects/triage").content.decode()
    assert ApiKey.objects.count() == 0
