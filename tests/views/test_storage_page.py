"""The page of a project's storage, its retention rule, and what pages say of files that went."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs import holds
from jobs.models import ImportRun, Job, RetentionRule, Trial, UploadPart
from jobs.trimming import apply_rule
from plural_site.accounts.actions import create_project
from plural_site.accounts.actions_projects import archive_project
from plural_site.accounts.models import Machine, Project, User
from plural_site.formats import date_text
from tests.builders import START, BenchmarkSpec, Outcome, make_job, track
from tests.importing import bring

if TYPE_CHECKING:
    from tests.conftest import ClientAs

PAGE = "/projects/triage/storage"
RULE = {"days": "", "newest": "1", "kind": ["trajectories", "artifacts", "logs"]}
SPEC = BenchmarkSpec(tracks=(track(),))


def text(browser: Client, path: str, status: int = 200) -> str:
    response = browser.get(path)
    assert response.status_code == status, path
    content = b"".join(iter(response)).decode()
    return html.unescape(re.sub(r"\s+", " ", content)).replace("\u202f", "").replace("\u00a0", " ")


def record(project: Project, folder: Path, count: int, first: int = 0) -> None:
    picture = Outcome(artifacts={"shot.png": b"\x89PNG\r\n\x1a\n" + bytes(5000)})
    for number in range(first, first + count):
        make_job(
            folder,
            key=str(number),
            benchmark=SPEC,
            track_id="open",
            outcomes=lambda *_: picture,
            started=START + timedelta(hours=number),
        )
    bring(project, folder)


@pytest.fixture
def two(project: Project, tmp_path: Path) -> Project:
    record(project, tmp_path / "jobs", 2)
    return project


@pytest.fixture
def trimmed(two: Project, ann: User, client_as: ClientAs) -> Trial:
    """A Trial whose files a rule took."""
    assert client_as(ann).post(f"{PAGE}/retention", RULE).status_code == 302
    assert len(list(apply_rule(two, Machine.WORKER))) == 1
    return Trial.objects.order_by("job__started_at", "pk")[0]


def test_sizes_by_kind_and_by_job(two: Project, ben: User, cy: User, client_as: ClientAs) -> None:
    run = ImportRun.objects.create(project=two, source="x", status="uploading", beat_at=timezone.now())
    UploadPart.objects.create(run=run, number=0, size=123_000, digest="sha256:" + "0" * 64, name="1/0")
    page = text(client_as(cy), PAGE)
    assert re.search(r"Other artifacts<.*?20\.\d kB</td><td class=\"num\">4<", page)
    assert re.search(r"Uploads<.*?123\.0 kB</td><td class=\"num\">1<", page)
    assert re.search(r"Packages<.*?kB</td>", page)
    assert "Earlier states" not in page
    for job in Job.objects.all():
        assert job.client_job_id in page
    assert "Preview what goes" not in page
    assert "Everything is kept." in page
    assert "/settings/members" not in page
    assert "Preview what goes" not in text(client_as(ben), f"{PAGE}?newest=1&kind=logs")


def test_largest_jobs_come_first_page_by_page(project: Project, ann: User, client_as: ClientAs) -> None:
    browser = client_as(ann)
    assert "No Jobs yet" in text(browser, PAGE)


def test_jobs_are_paged_by_size(two: Project, ann: User, client_as: ClientAs) -> None:
    small, large = Job.objects.order_by("pk")
    Job.objects.filter(pk=large.pk).update(size=10**9)
    page = text(client_as(ann), PAGE)
    table = page[page.index("Storage by Job") :]
    assert table.index(large.client_job_id) < table.index(small.client_job_id)
    assert "Nothing follows" not in page
    Job.objects.bulk_create(
        Job(**{**values(small), "client_job_id": f"job_{number:03d}", "size": number}) for number in range(60)
    )
    page = text(client_as(ann), PAGE)
    following = re.search(r'rel="next" href="([^"]+)#jobs"', page)
    assert following
    rest = text(client_as(ann), following[1])
    assert "job_000" in rest[rest.index("Storage by Job") :]
    assert large.client_job_id not in rest[rest.index("Storage by Job") :]


def values(job: Job) -> dict[str, object]:
    return {
        field.attname: getattr(job, field.attname)
        for field in Job._meta.concrete_fields
        if field.attname != "id"
    }


def test_rule_is_previewed_turned_on_and_off(two: Project, ann: User, client_as: ClientAs) -> None:
    browser = client_as(ann)
    old, new = Job.objects.order_by("started_at")
    page = text(browser, f"{PAGE}?newest=1&kind=trajectories&kind=logs")
    assert "A Job keeps its trajectories and logs while it is the newest of its Benchmark." in page
    preview = page[page.index('id="preview"') : page.index("Storage by Job")]
    assert old.client_job_id in preview
    assert new.client_job_id not in preview
    assert "1 of 2" in preview
    assert not RetentionRule.objects.exists()
    fields = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', preview)
    sent = {name: [value for key, value in fields if key == name] for name, _ in fields}
    assert sent.pop("csrfmiddlewaretoken", None) is not None or "csrf" in preview
    answer = browser.post(f"{PAGE}/retention", sent, follow=True)
    assert "The retention rule is on." in answer.content.decode()
    rule = RetentionRule.objects.get()
    assert (rule.keep_days, rule.keep_newest, rule.kinds) == (None, 1, ["trajectories", "logs"])
    page = text(browser, PAGE)
    assert "Turned on by Ann" in page
    assert "What goes next" in page
    assert "Turn this rule on" not in page
    browser.post(f"{PAGE}/retention", {"off": "1"})
    assert not RetentionRule.objects.exists()


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"days": "", "newest": "", "kind": "logs"}, "Say how long files are kept"),
        ({"days": "<b>", "newest": "", "kind": "logs"}, "whole number from 1"),
        ({"days": "9"}, "at least one kind"),
        ({"days": "9\0", "kind": "logs"}, "whole number"),
    ],
)
def test_rule_that_makes_no_sense_is_refused(
    sent: dict[str, str], message: str, two: Project, ann: User, client_as: ClientAs
) -> None:
    browser = client_as(ann)
    answer = browser.post(f"{PAGE}/retention", sent)
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert "<b>" not in answer.content.decode().split('id="days"')[1].split(">")[0]
    assert not RetentionRule.objects.exists()
    assert message in browser.get(PAGE, sent).content.decode()


def test_jobs_that_are_needed_are_listed_with_the_reason(
    two: Project, ann: User, client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holds, "_holds", [])
    holds.add_hold(lambda keys: dict.fromkeys(keys, "A <draft> selects it."))
    page = client_as(ann).get(PAGE, RULE).content.decode()
    assert "Kept although old enough" in page
    assert "A &lt;draft&gt; selects it." in page
    assert "No Job loses anything now." in page


def test_archived_project_shows_sizes_and_changes_nothing(
    two: Project, ann: User, client_as: ClientAs
) -> None:
    archive_project(actor=ann, project=two, archived=True)
    browser = client_as(ann)
    assert "Preview what goes" not in text(browser, PAGE)
    assert browser.post(f"{PAGE}/retention", RULE).status_code == 403


def test_page_costs_the_same_with_more_jobs(
    project: Project, ann: User, client_as: ClientAs, tmp_path: Path
) -> None:
    browser = client_as(ann)

    def cost() -> list[int]:
        found = []
        for path in (PAGE, f"{PAGE}?newest=1&kind=logs"):
            with CaptureQueriesContext(connection) as captured:
                text(browser, path)
            found.append(len(captured))
        return found

    record(project, tmp_path / "1", 2)
    before = cost()
    assert before == [3 + 6, 3 + 6 + 3]  # the Jobs that drafts and manifests name
    record(project, tmp_path / "2", 5, first=2)
    assert cost() == before


def test_nothing_of_other_projects_counts(
    two: Project, ann: User, client_as: ClientAs, tmp_path: Path
) -> None:
    page = text(client_as(ann), PAGE)
    other = create_project(actor=ann, account=two.account, slug="other")
    record(other, tmp_path / "jobs", 0)
    assert Job.objects.filter(project=other).count() == 2
    again = text(client_as(ann), PAGE)
    assert _facts(again) == _facts(page)
    same = text(client_as(ann), "/projects/other/storage")
    assert _facts(same) == _facts(page)


def _facts(page: str) -> list[str]:
    return re.findall(r"<dd>(.*?)</dd>", page)


# Pages of a Trial whose files went ------------------------------------------------------------------------


def test_trial_page_says_what_went_and_when(trimmed: Trial, ann: User, client_as: ClientAs) -> None:
    path = f"/projects/triage/trials/{trimmed.client_trial_id}"
    page = text(client_as(ann), path)
    words = f"removed by the project’s retention rule on {date_text(timezone.now())}"
    assert f"No trajectory: {words}" in page
    assert f"The trajectory was {words}, and with it its calls of models." in page
    assert f"them were {words}; their digests stay." in page
    assert f"{path}/executions/0/files/result.json" in page
    assert "files/artifacts/shot.png" not in page
    assert "files/logs/" not in page
    assert f"{path}/executions/0/files/artifacts/manifest.json" in page


@pytest.mark.parametrize(
    "place",
    [
        "executions/0/files/artifacts/shot.png",
        "executions/0/files/logs/stdout.log",
        "executions/0/files/artifacts/atif-trajectory.json?download=1",
        "trajectory/steps/1",
        "trajectory/steps/1/raw",
        "trajectory/steps/1/blocks/0",
        "trajectory/steps/1/images/0",
    ],
)
def test_addresses_of_what_went_say_so(place: str, trimmed: Trial, ann: User, client_as: ClientAs) -> None:
    page = text(client_as(ann), f"/projects/triage/trials/{trimmed.client_trial_id}/{place}", 410)
    assert "No longer here" in page
    assert "removed by the project’s retention rule on" in page


@pytest.mark.parametrize("query", ["", "?file=artifacts/atif-trajectory.json"])
def test_trajectory_page_says_that_it_went(
    query: str, trimmed: Trial, ann: User, client_as: ClientAs
) -> None:
    path = f"/projects/triage/trials/{trimmed.client_trial_id}/trajectory{query}"
    assert "was removed by the project’s retention rule on" in text(client_as(ann), path)
    compare = f"/projects/triage/trajectories/compare?a={trimmed.client_trial_id}&b={trimmed.client_trial_id}"
    assert "was removed by the project’s retention rule on" in text(client_as(ann), compare)


def test_stranger_gets_404_for_what_went(trimmed: Trial, dee: User, client_as: ClientAs) -> None:
    path = f"/projects/triage/trials/{trimmed.client_trial_id}/executions/0/files/artifacts/shot.png"
    assert "retention" not in text(client_as(dee), path, 404)


def test_storage_page_counts_what_went(trimmed: Trial, ann: User, client_as: ClientAs) -> None:
    page = text(client_as(ann), PAGE)
    assert "Removed so far" in page
    assert re.search(r"Trajectories<.*?2 files, [\d.]+ kB, removed by the retention rule", page)
    assert "No Job loses anything now." in page
    assert "Last applied on" in page
