"""Giving a revision a version on the web: what is asked, what is refused, and where it shows."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.test import Client

from benchmarks.models import Release, Resource
from plural_site.accounts.models import Project, User
from tests.builders import START, BenchmarkSpec, make_job, scoring, track
from tests.importing import bring

if TYPE_CHECKING:
    from tests.conftest import ClientAs

PAGE = "/projects/triage/benchmarks/demo-bench"
ASK = f"{PAGE}/revisions/2/release"


@pytest.fixture(autouse=True)
def recorded(project: Project, tmp_path: Path) -> None:
    """Revision 1 is 1.0.0; revision 2, the current one, claims 1.0.0 too."""
    for number, text in enumerate(("Answer.", "Answer anew.")):
        spec = BenchmarkSpec(tracks=(track(),), scoring=scoring(), task_text={"first": text})
        started = START + timedelta(hours=number)
        folder = make_job(tmp_path / str(number), benchmark=spec, track_id="open", started=started)
        bring(project, folder)
    Resource.objects.filter(kind="benchmark").update(readme="# Demo")


@pytest.fixture
def writer(client_as: ClientAs, ben: User) -> Client:
    return client_as(ben)


def give(browser: Client, version: str, path: str = ASK, **more: str) -> tuple[int, str]:
    response = browser.post(path, {"version": version, "confirmed": "on", **more})
    return response.status_code, response.content.decode()


def test_the_page_suggests_what_is_free(writer: Client) -> None:
    page = writer.get(ASK).context["page"]
    assert page.preselected == "1.1.0"
    assert [suggestion.version for suggestion in page.suggestions] == ["1.1.0", "1.0.1"]
    assert page.suggestions[0].why == "Tasks, scoring or tracks are other ones than in 1.0.0"
    assert page.taken == (("1.0.0", 1),)
    assert 'value="1.1.0"' in writer.get(ASK).content.decode()


def test_other_texts_alone_suggest_a_patch(writer: Client, project: Project, tmp_path: Path) -> None:
    spec = BenchmarkSpec(
        tracks=(track(),), scoring=scoring(), task_text={"first": "Answer."}, purpose="Another purpose."
    )
    bring(project, make_job(tmp_path / "texts", benchmark=spec, track_id="open"))
    page = writer.get(f"{PAGE}/revisions/3/release").context["page"]
    assert [suggestion.version for suggestion in page.suggestions] == ["1.0.1", "1.1.0"]
    assert page.suggestions[0].why == "only texts are other ones than in 1.0.0"


def test_a_claimed_version_that_is_free_is_preselected(writer: Client) -> None:
    resource = Resource.objects.get(kind="benchmark")
    resource.revisions.create(
        number=3,
        content_hash=f"sha256:{'3' * 64}",
        definition=resource.revisions.get(number=1).definition,
        claimed_version="3.0.0-beta",
    )
    page = writer.get(f"{PAGE}/revisions/3/release").context["page"]
    assert [suggestion.version for suggestion in page.suggestions] == ["3.0.0-beta", "1.1.0", "1.0.1"]
    assert page.preselected == "3.0.0-beta"


def test_a_given_version_shows_at_once_everywhere(writer: Client) -> None:
    response = writer.post(ASK, {"version": " 1.1.0 ", "confirmed": "on"}, follow=True)
    assert response.redirect_chain == [(f"{PAGE}?revision=2", 302)]
    text = response.content.decode()
    assert "Revision 2 is version 1.1.0 now." in text
    assert response.context["page"].version == "1.1.0"
    assert response.context["page"].release_href == ""
    assert [row.version for row in response.context["page"].revisions] == ["1.1.0", "1.0.0"]
    board = writer.get(f"{PAGE}@1.1.0")
    assert [release.label for release in board.context["page"].releases] == ["1.1.0", "1.0.0"]
    assert "1.1.0" in writer.get("/projects/triage").content.decode()
    assert "1.1.0" in writer.get("/projects/triage/jobs").content.decode()


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("", "Give a version, such as 1.0.0."),
        ("2", "A version of digits only would read as the number of a revision"),
        ("1.0.0", "Version 1.0.0 is revision 1, for ever: choose another, such as 1.1.0."),
        ("a b", "A version starts with a letter or digit"),
        ("x" * 65, "A version has at most 64 characters."),
        ("1.0\0", "Null characters are not allowed."),
    ],
)
def test_a_wrong_version_is_refused_beside_its_field(writer: Client, version: str, words: str) -> None:
    response = writer.post(ASK, {"version": version, "confirmed": "on"})
    assert response.status_code == 422
    assert response.context["form"].errors["version"] == [words] or words in str(
        response.context["form"].errors["version"]
    )
    assert Release.objects.filter(resource__kind="benchmark").count() == 1


def test_an_unconfirmed_version_is_not_given(writer: Client) -> None:
    response = writer.post(ASK, {"version": "1.1.0"})
    assert response.status_code == 422
    assert "can’t be taken back" in response.content.decode()
    assert Release.objects.filter(resource__kind="benchmark").count() == 1


def test_what_is_missing_is_said_and_nothing_is_asked(writer: Client) -> None:
    Resource.objects.filter(kind="benchmark").update(readme="PLURAL-TODO: write it")
    page = writer.get(ASK)
    assert page.context["page"].missing[0].startswith("README.md still holds PLURAL-TODO")
    assert '<form method="post" class="stack"' not in page.content.decode()
    status, text = give(writer, "1.1.0")
    assert status == 422
    assert "Not ready to be released" in text


def test_a_second_version_is_refused_and_the_same_one_is_no_change(writer: Client) -> None:
    assert give(writer, "1.1.0")[0] == 302
    assert give(writer, "1.1.0")[0] == 302
    status, text = give(writer, "1.2.0")
    assert status == 422
    assert "Revision 2 is released as 1.1.0 already" in text


def test_a_revision_that_is_not_there_is_absent(writer: Client) -> None:
    for number in (0, 3, 2**40):
        assert writer.get(f"{PAGE}/revisions/{number}/release").status_code == 404


def test_readers_are_not_offered_it(client_as: ClientAs, cy: User, writer: Client) -> None:
    assert ASK in writer.get(PAGE).content.decode()
    assert "/release" not in client_as(cy).get(PAGE).content.decode()
