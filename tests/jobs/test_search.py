"""Searching the texts of many Trials: the same hits as a plain `in` finds, on either database."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jobs import search, search_tables, search_texts
from jobs.models import Execution, Job, StepIndex, StepText, TextMark, Trial
from jobs.search import Matches, cleaned, find, snippets
from jobs.search_texts import Progress, fold, index_texts, progress, text_key
from jobs.step_indexes import rebuild_indexes
from plural_site.accounts.models import Project
from tests.builders import AWAITING_REVIEW, BenchmarkSpec, Outcome, failed, make_job
from tests.importing import bring
from tests.trajectories import ATIF, atif, leave

TEXTS = (
    'Refund of 100% for order_7, it\'s "done"',
    "C:\\temp\\*.log and a_b, a%b, axb",
    "if (x >= 0 && y != NULL) { return *p++; }",
    "RÉSUMÉ naïve ΣΊΣΥΦΟΣ Straße STRASSE ﬁn İstanbul ıI",
    "日本語のテキスト、絵文字 🎉🎊 done",
    "tabs\tand\nlines\r\nand \x1b[31mred\x1b[0m",
    "NEAR AND OR NOT (col:umn) ^start -minus + \"quoted\" 'single'",
    "x" * 15_790 + "across the seam" + "y" * 400,
    "\ud800 lone and \0 nul",
    "",
)
QUESTIONS = (
    *(
        "refund",
        "REFUND",
        "100%",
        "r_7",
        "a_b",
        "a%b",
        "%",
        "_",
        "\\",
        "\\t",
        "*",
        "*.LOG",
        '"',
        '"done"',
        "'s",
    ),
    *(
        "x >= 0 && y",
        "*p++;",
        "{",
        "&&",
        "!= null",
        "NEAR",
        "near AND",
        "OR NOT",
        "(col:umn)",
        "^start",
        "-minus",
    ),
    *(
        "résumé",
        "RÉSUMÉ",
        "resume",
        "ΣΊΣΥΦΟΣ",
        "σίσυφοσ",
        "ςίσυφος",
        "straße",
        "strasse",
        "STRAẞE",
        "ﬁN",
        "İst",
    ),
    *(
        "ıi",
        "日本語",
        "日",
        "🎉",
        "🎉🎊 D",
        "and\nlines",
        "\t",
        "s\ta",
        "\x1b[31m",
        "across the seam",
        "xa",
        "yyy",
    ),
    *(
        "nothing of this",
        "a",
        " ",
        "  ",
        "done",
        "\ufffd lone",
        "' OR 1=1 --",
        "[x]",
        "?",
        "%s",
        "%(a)s",
        "{0}",
    ),
)


CHECK = "INSERT INTO jobs_steptext_fts(jobs_steptext_fts) VALUES ('integrity-check')"
ALPHABET = "aAbBzZ éÉßẞſsSσςΣİıIiK\u212akǅǆ%_\\\"'*()[]{}^:-+.,;\t\n€日🎉"


def trials_saying(project: Project, folder: Path, texts: Sequence[str]) -> list[int]:
    """A Job with a Trial for each text, which is what its Agent says in step 2; their keys."""
    names = tuple(f"task-{number}" for number in range(len(texts)))
    bring(project, make_job(folder, benchmark=BenchmarkSpec(tasks=names)))
    executions = Execution.objects.filter(trial__task_name__in=names).order_by("trial__task_position")
    for execution, text in zip(executions, texts, strict=True):
        leave(execution, {ATIF: atif([said("§"), said(text)])})
    return list(Trial.objects.order_by("task_position").values_list("pk", flat=True))


def said(text: str) -> dict[str, object]:
    return {"step_id": 1, "source": "agent", "message": text}


def jobs() -> list[int]:
    return list(Job.objects.values_list("pk", flat=True))


def simple_fold(text: str) -> str:
    """Unicode's simple case folding, spelt out."""
    return "".join(
        next((form for form in (char.casefold(), char.lower()) if len(form) == 1), char) for char in text
    )


def holding(question: str, texts: dict[int, str]) -> set[int]:
    return {trial for trial, text in texts.items() if simple_fold(question) in simple_fold(text)}


@pytest.fixture
def trials(project: Project, tmp_path: Path) -> list[int]:
    found = trials_saying(project, tmp_path / "store", TEXTS)
    assert index_texts(jobs()) == len(TEXTS)
    return found


def test_finds_what_a_plain_in_finds(trials: list[int]) -> None:
    stored = [text.replace("\0", "\ufffd").replace("\ud800", "\ufffd") for text in TEXTS]
    texts = dict(zip(trials, stored, strict=True))
    found = {question: set(find(cleaned(question), trials).steps) for question in QUESTIONS}
    expected = {q: holding(q, texts) if q.strip() else set() for q in QUESTIONS}
    assert {q: (found[q], expected[q]) for q in QUESTIONS if found[q] != expected[q]} == {}
    assert sum(map(bool, found.values())) > len(QUESTIONS) / 2


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.text(ALPHABET, max_size=12), min_size=1, max_size=4),
    question=st.text(ALPHABET, min_size=1, max_size=5),
)
@example(texts=["ΑΣ", "ας", "ασ"], question="Σ")
@example(texts=["K", "\u212a", "k"], question="k")
def test_equals_in_on_folded_texts(trials: list[int], texts: list[str], question: str) -> None:
    index = StepIndex.objects.earliest("pk")
    job = Job.objects.get()
    by_trial = dict(zip(trials, texts, strict=False))
    with transaction.atomic():
        StepText.objects.all().delete()
        StepText.objects.bulk_create(
            StepText(
                pk=text_key(trial, 1), job=job, trial_id=trial, index=index, step=at, part=0, text=text,
                folded=fold(text),
            )
            for at, (trial, text) in enumerate(by_trial.items())
        )  # fmt: skip
    assert set(find(question, trials).steps) == holding(question, by_trial)
    for trial, found in snippets(question, sorted(holding(question, by_trial)), 1).items():
        assert [simple_fold(snippet.match) for snippet in found] == [simple_fold(question)]
        assert found[0].before + found[0].match + found[0].after == by_trial[trial]


@given(st.text())
def test_fold_is_simple_case_folding(text: str) -> None:
    assert fold(text) == simple_fold(text) == fold(fold(text))
    assert len(fold(text)) == len(text)


def test_every_character_folds_alone() -> None:
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    assert [char for char in every if fold(char) != simple_fold(char)] == []


def test_a_hit_is_a_step_whatever_its_parts(project: Project, tmp_path: Path) -> None:
    (trial,) = trials_saying(project, tmp_path, ["needle " * 5000])
    index_texts(jobs())
    assert StepText.objects.filter(step=2).count() > 2
    assert find("needle", [trial]).steps == {trial: 1}
    (snippet,) = snippets("NEEDLE", [trial], 5)[trial]
    assert (snippet.step, snippet.before, snippet.match) == (2, "", "needle")
    assert snippet.after.endswith("…")


def test_only_the_trials_that_are_named_are_found(trials: list[int]) -> None:
    assert set(find("done", trials).steps) == {trials[0], trials[4]}
    assert set(find("done", trials[1:]).steps) == {trials[4]}
    assert find("done", []).steps == find("", trials).steps == {}


def test_runs_hold_every_trial_and_leave_wide_gaps_out() -> None:
    assert search._runs([5]) == [(5, 5)]
    assert search._runs([9, 3, 4]) == [(3, 9)]
    assert search._runs([1, 2, 5000, 5001, 90_000]) == [(1, 2), (5000, 5001), (90_000, 90_000)]
    many = search._runs([number * 10_000 for number in range(100)])
    assert (len(many), many[0][0], many[-1][1]) == (20, 0, 990_000)


def test_short_questions_look_at_a_bounded_number_of_texts(
    trials: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = Matches({trials[0]: 1, trials[4]: 1})
    assert find("do", trials) == both
    texts = list(StepText.objects.order_by("pk").values_list("trial", flat=True))
    earlier, later = sorted(both.steps)
    monkeypatch.setattr(search, "SCANNED", texts.index(earlier + 1))
    assert find("do", trials) == Matches({earlier: 1}, earlier)
    assert find("done", trials) == both
    assert later > earlier


def test_searches_without_an_index(trials: list[int]) -> None:
    with_index = {question: find(cleaned(question), trials) for question in QUESTIONS}
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX {search_tables.TRIGRAM_INDEX}")
    else:
        search_tables.uninstall(connection)
    assert {question: find(cleaned(question), trials) for question in QUESTIONS} == with_index
    search_tables.install(connection)
    assert find("refund", trials) == with_index["refund"]


# Filling ----------------------------------------------------------------------------------------------


def test_goes_on_where_it_stopped(project: Project, tmp_path: Path) -> None:
    trials = trials_saying(project, tmp_path, ["one", "two", "three"])
    assert progress(jobs()) == Progress(0, 3, 0)
    for done in (1, 2, 3):
        assert index_texts(jobs(), 0) == 1
        assert progress(jobs()).indexed == done
    assert index_texts(jobs(), 0) == 0
    assert len(find("§", trials).steps) == 3


def test_goes_on_within_a_trajectory(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_texts, "_PIECE_CHARACTERS", 10)
    (trial,) = trials_saying(project, tmp_path, [""])
    leave(Execution.objects.get(), {ATIF: atif([said(f"words of step {number}") for number in range(1, 8)])})
    rounds = 0
    while not progress(jobs()).is_done:
        index_texts(jobs(), 0)
        rounds += 1
        assert len(snippets("words", [trial], 9)[trial]) == min(rounds, 7)
    assert rounds == 7
    assert find("words of step", [trial]).steps == {trial: 7}


def test_what_left_no_trajectory_counts_as_indexed(project: Project, tmp_path: Path) -> None:
    what = {"first": failed("provider_unavailable"), "second": Outcome()}
    bring(project, make_job(tmp_path, outcomes=lambda agent, task, attempt: what[task]))
    assert index_texts(jobs()) == 2
    assert progress(jobs()) == Progress(2, 2, 0)
    assert TextMark.objects.filter(index=None).count() == 1


def test_what_cannot_be_read_is_said_once(project: Project, tmp_path: Path) -> None:
    trials_saying(project, tmp_path, ["one", "two"])
    lost = Execution.objects.earliest("pk")
    lost.pack_id = Execution.objects.latest("pk").pack_id
    lost.files = [[ATIF, "sha256:" + "0" * 64, 10**9, 50, "application/json", "", ""]]
    lost.save()
    assert index_texts(jobs()) == 2
    assert progress(jobs()).is_done
    assert index_texts(jobs()) == 0


def test_a_grown_trial_is_indexed_again(project: Project, tmp_path: Path) -> None:
    def reviewed(agent: str, task: str, attempt: int) -> Outcome:
        return Outcome(score=0.5) if task == "first" else AWAITING_REVIEW

    bring(project, make_job(tmp_path / "first", outcomes=lambda agent, task, attempt: AWAITING_REVIEW))
    index_texts(jobs())
    first, second = (StepText.objects.filter(trial__task_name=name).count() for name in ("first", "second"))
    assert first and second
    bring(project, make_job(tmp_path / "second", outcomes=reviewed))
    assert progress(jobs()) == Progress(1, 2, 0)
    assert StepText.objects.count() == second
    index_texts(jobs())
    assert (StepText.objects.count(), progress(jobs())) == (first + second, Progress(2, 2, 0))
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(CHECK)


def test_a_step_index_made_anew_takes_its_texts_along(trials: list[int]) -> None:
    rebuild_indexes(Execution.objects.get(trial=trials[0]))
    assert find("refund", trials).steps == {}
    assert progress(jobs()) == Progress(len(TEXTS) - 1, len(TEXTS), 0)
    index_texts(jobs())
    assert set(find("refund", trials).steps) == {trials[0]}


def test_texts_of_another_version_are_made_anew(trials: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_texts, "VERSION", 2)
    StepText.objects.filter(trial=trials[0]).update(folded="old words")
    assert set(find("old words", trials).steps) == {trials[0]}
    assert progress(jobs()).indexed == 0
    assert index_texts(jobs()) == len(TEXTS)
    assert find("old words", trials).steps == {}
    assert set(find("refund", trials).steps) == {trials[0]}


def test_a_deleted_job_leaves_nothing_to_find(trials: list[int]) -> None:
    Job.objects.get().delete()
    assert find("refund", trials).steps == find("do", trials).steps == {}
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM jobs_steptext_fts WHERE jobs_steptext_fts MATCH 'ref'")
            assert cursor.fetchone() == (0,)


# Installing -------------------------------------------------------------------------------------------


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite drops triggers, PostgreSQL does not")
def test_a_lost_trigger_comes_back_with_what_it_missed(trials: list[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER jobs_steptext_fts_update")
    StepText.objects.filter(trial=trials[0]).update(folded="unheard of")
    search_tables.install(connection)
    assert set(find("unheard of", trials).steps) == {trials[0]}
    assert find("refund", trials).steps == {}
    with connection.cursor() as cursor:
        cursor.execute(CHECK)


def test_a_role_that_may_not_does_without(
    db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(wrapper: BaseDatabaseWrapper) -> None:
        with wrapper.cursor() as cursor:
            cursor.execute("CREATE TABLE no_such_schema.t (x int)")

    monkeypatch.setattr(search_tables, "_install_postgresql", refuse)
    monkeypatch.setattr(search_tables, "_install_sqlite", refuse)
    with caplog.at_level(logging.WARNING):
        search_tables.install(connection)
    assert "No index for searching texts" in caplog.text
    assert Job.objects.count() == 0
