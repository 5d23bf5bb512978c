"""Updates of a Benchmark on the web: what is offered, what would change, and what saving asks and does."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks import update_page
from benchmarks.models import Resource, Revision
from plural_site.accounts.models import Project, User
from tests import builders
from tests.builders import BenchmarkSpec, make_job, scoring, track
from tests.importing import bring
from tests.newer import benchmark, newer

if TYPE_CHECKING:
    from tests.conftest import ClientAs

PAGE = "/projects/triage/benchmarks/demo-bench"
UPDATES, SAVE = f"{PAGE}/updates", f"{PAGE}/updates/save"
TEXT = "\n".join(f"Line {number}." for number in range(1, 30))


@pytest.fixture(autouse=True)
def recorded(project: Project, tmp_path: Path) -> None:
    spec = BenchmarkSpec(
        tasks=("one", "two", "three"),
        task_text={"one": TEXT},
        tracks=(track(max_turns=20),),
        scoring=scoring(),
    )
    bring(project, make_job(tmp_path, benchmark=spec, track_id="open"))


@pytest.fixture
def changed(project: Project) -> None:
    newer(project, "task", "one", instructions=TEXT.replace("Line 9.", "Line nine."))
    newer(project, "environment", "desk", limits={**builders.ENVIRONMENT["limits"], "max_turns": 9})


@pytest.fixture
def writer(client_as: ClientAs, ben: User) -> Client:
    return client_as(ben)


def short(revision: Revision) -> str:
    return revision.content_hash.removeprefix("sha256:")[:10]


def fields(text: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', unescape(text)))


def test_the_benchmark_page_says_what_is_newer(writer: Client, project: Project) -> None:
    assert writer.get(PAGE).context["page"].updates is None
    newer(project, "verifier", "check", weight=2.0)
    updates = writer.get(PAGE).context["page"].updates
    assert (updates.text, updates.href) == ("1 Verifier has a newer revision", UPDATES)
    newer(project, "task", "one", instructions="Anew.")
    newer(project, "task", "two", instructions="Anew.")
    newer(project, "environment", "desk", description="Politely.")
    response = writer.get(PAGE)
    assert (
        response.context["page"].updates.text == "2 Tasks, 1 Environment and 1 Verifier have newer revisions"
    )
    assert "1.0.0, the current one, pins older ones" in response.content.decode()


def test_without_newer_revisions_the_page_says_so(writer: Client) -> None:
    response = writer.get(UPDATES)
    assert "Everything is at its newest revision" in response.content.decode()
    assert writer.get(SAVE).status_code == 302


@pytest.mark.usefixtures("changed")
def test_everything_is_taken_unless_the_address_says_otherwise(writer: Client, project: Project) -> None:
    page = writer.get(UPDATES).context["page"]
    assert [(row.kind, row.name, row.old, row.new, row.chosen, row.tasks) for row in page.offers] == [
        ("Task", "one", "1", "2", True, ("one",)),
        ("Environment", "desk", "1", "2", True, ("one", "two", "three")),
    ]
    assert (page.plan.number, page.plan.exists, page.plan.made, page.plan.problems) == (2, False, 3, ())
    assert dict(page.diff.counts) == {"Tasks updated": "3", "Environments and Verifiers": "1"}
    task = Revision.objects.get(resource__slug="one", number=2)
    page = writer.get(f"{UPDATES}?chosen=1&take={short(task)}").context["page"]
    assert [row.chosen for row in page.offers] == [True, False]
    assert (page.plan.made, page.diff.updated_total) == (0, 1)
    page = writer.get(f"{UPDATES}?chosen=1").context["page"]
    assert (page.plan, page.diff, page.save_href) == (None, None, "")


@pytest.mark.usefixtures("changed")
def test_what_changes_inside_a_task_is_shown_line_by_line(writer: Client) -> None:
    response = writer.get(UPDATES)
    diff = response.context["page"].diff
    first = diff.updated[0]
    assert (first.name, first.words) == ("one", "from revision 1 to a new one")
    assert first.parts == ("Environment desk: from revision 1 to 2",)
    (row,) = first.fields.rows
    assert (row.path, row.lines_note) == ("instructions", "1 line removed, 1 line added")
    assert [(line.kind, line.old, line.new, line.text) for line in row.lines][2:5] == [
        ("kept", "8", "8", "Line 8."),
        ("removed", "9", "", "Line 9."),
        ("added", "", "9", "Line nine."),
    ]
    (part,) = diff.parts
    assert (part.title, part.words, part.tasks) == (
        "Environment desk",
        "from revision 1 to 2",
        ("one", "two", "three"),
    )
    assert [(row.path, row.old, row.new) for row in part.fields.rows] == [("limits.max_turns", "8", "9")]
    assert diff.configuration.rows == ()


@pytest.mark.usefixtures("changed")
def test_what_is_confirmed_is_saved_and_shown(writer: Client, project: Project) -> None:
    asked = writer.get(SAVE)
    page = asked.context["page"]
    assert page.title == "Save revision 2?"
    assert page.plan.content_hash in asked.content.decode()
    assert [(task.name, task.how) for task in page.tasks] == [
        ("one", "a new revision, made from revision 2"),
        ("two", "a new revision, made from revision 1"),
        ("three", "a new revision, made from revision 1"),
    ]
    assert page.tasks[0].content_hash in page.definition
    data = {"chosen": "1", "take": [value for name, value in page.carried if name == "take"]}
    data["expected"] = page.plan.content_hash
    done = writer.post(SAVE, data, follow=True)
    assert done.redirect_chain == [(f"{PAGE}?revision=2", 302)]
    made = benchmark(project).current
    assert made is not None
    assert (made.number, made.content_hash) == (2, page.plan.content_hash)
    shown = done.context["page"]
    assert (shown.number, shown.version, shown.updates) == (2, "", None)
    assert shown.release_href == f"{PAGE}/revisions/2/release"
    assert [row.number for row in shown.revisions if row.is_current] == [2]
    assert writer.get(f"{PAGE}@1.0.0").status_code == 200
    again = writer.post(SAVE, data)
    assert (again.status_code, benchmark(project).revisions.count()) == (302, 2)


@pytest.mark.usefixtures("changed")
def test_what_moved_meanwhile_is_not_saved_and_the_new_state_is_shown(
    writer: Client, project: Project
) -> None:
    data = fields(writer.get(SAVE).content.decode())
    newer(project, "task", "one", instructions="Quite anew.")
    response = writer.post(SAVE, data)
    assert response.status_code == 422
    assert "Nothing was saved" in response.content.decode()
    assert response.context["page"].plan.content_hash != data["expected"]
    assert benchmark(project).revisions.count() == 1


def test_what_can_not_be_saved_says_why(writer: Client, project: Project) -> None:
    newer(project, "environment", "desk", limits={**builders.ENVIRONMENT["limits"], "max_turns": 21})
    page = writer.get(UPDATES).context["page"]
    assert page.save_href == ""
    assert len(page.plan.problems) == 3
    asked = writer.get(SAVE)
    assert 'name="expected"' not in asked.content.decode()
    assert "allows 21 turns" in asked.content.decode()
    response = writer.post(SAVE, {"chosen": "1", "expected": page.plan.content_hash, "take": ["0" * 10]})
    assert response.status_code == 422


def test_a_content_that_is_there_already_is_made_current(writer: Client, project: Project) -> None:
    newer(project, "task", "one", instructions="Anew.")
    assert writer.post(SAVE, fields(writer.get(SAVE).content.decode())).status_code == 302
    first = benchmark(project).revisions.get(number=1)
    Resource.objects.filter(kind="benchmark").update(current=first)
    asked = writer.get(SAVE)
    assert asked.context["page"].title == "Make revision 2 current again?"
    assert writer.post(SAVE, fields(asked.content.decode())).status_code == 302
    assert benchmark(project).current != first


@pytest.mark.usefixtures("changed")
def test_rubbish_in_the_address_is_named(writer: Client) -> None:
    page = writer.get(f"{UPDATES}?chosen=1&take=nothing%00&page=0&page=x").context["page"]
    assert page.problems == ("nothing␀ is no newer revision of anything that is pinned now.",)
    assert writer.get(f"{UPDATES}?page=999999").status_code == 200


@pytest.mark.usefixtures("changed")
def test_many_offers_of_a_kind_are_taken_together(
    writer: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update_page, "MOST_SINGLE", 1)
    newer(project, "task", "two", instructions="Anew.")
    page = writer.get(UPDATES).context["page"]
    assert [(row.value, row.kind, row.name) for row in page.offers][0] == ("task", "Tasks", "all 2")
    assert "take=task&" in page.save_href
    taken = writer.get(f"{UPDATES}?chosen=1&take=task").context["page"]
    assert taken.diff.updated_total == 2


@pytest.mark.usefixtures("changed")
def test_readers_see_it_and_can_not_save(client_as: ClientAs, cy: User) -> None:
    response = client_as(cy).get(UPDATES)
    assert response.status_code == 200
    assert response.context["page"].save_href == ""
    assert "Contributors of the project can save it." in response.content.decode()


def test_the_pages_cost_the_same_with_more_of_everything(
    writer: Client, project: Project, tmp_path: Path
) -> None:
    def cost(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert writer.get(path).status_code == 200
        return len(queries)

    names = tuple(f"task-{number}" for number in range(30))
    more = BenchmarkSpec(name="Big", slug="big", tasks=names, tracks=(track(),), scoring=scoring())
    bring(project, make_job(tmp_path / "big", benchmark=more, track_id="open"))
    newer(project, "environment", "desk", description="Politely.")
    small = [cost(path) for path in (PAGE, UPDATES, SAVE)]
    assert [cost(path.replace("demo-bench", "big")) for path in (PAGE, UPDATES, SAVE)] == small
    assert small == [17, 12, 11]
