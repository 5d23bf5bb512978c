"""Step indexes and what is read through them: pages, single steps, words, links to other trajectories."""

from __future__ import annotations

import base64
import json
import threading
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.http import Http404

from jobs import step_indexes, trajectories
from jobs.domain.trajectory import cutting, outline, scan
from jobs.models import Execution, StepChunk, StepIndex, Tally, Trial
from jobs.trajectories import find_text, step_texts
from jobs.trajectory_search import OVERLAP, PART
from plural_site.db import blobs
from tests.builders import make_job
from tests.importing import bring, figures
from tests.trajectories import ATIF, atif, leave, step, write_atif

if TYPE_CHECKING:
    from pytest_django import DjangoAssertNumQueries

    from jobs.imports import ImportReport
    from plural_site.accounts.models import Project

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 100


@pytest.fixture
def execution(project: Project, tmp_path: Path) -> Execution:
    make_job(tmp_path / "store")
    bring(project, tmp_path / "store")
    found = Execution.objects.order_by("pk").first()
    assert found
    return found


def index_of(execution: Execution, steps: list[Any], **changes: Any) -> StepIndex:
    leave(execution, {ATIF: atif(steps, **changes)})
    return step_indexes.ensure_index(execution, ATIF)


def test_candidates_come_best_first(execution: Execution) -> None:
    names = (
        *("artifacts/state.json", "artifacts/sub.trajectory-10.json", "artifacts/sub.trajectory-2.json"),
        *("artifacts/episode.jsonl", "artifacts/trajectory.json", ATIF, "artifacts/Trajectory.JSONL"),
        "artifacts/seats/a/atif-trajectory.json",
    )
    leave(execution, dict.fromkeys(names, b"{}"))
    assert [(file.path, file.format) for file in trajectories.trajectory_files(execution)] == [
        (ATIF, "atif"),
        ("artifacts/trajectory.json", "messages"),
        ("artifacts/episode.jsonl", "episode"),
        ("artifacts/Trajectory.JSONL", "raw"),
        ("artifacts/seats/a/atif-trajectory.json", "atif"),
        ("artifacts/sub.trajectory-2.json", "raw"),
        ("artifacts/sub.trajectory-10.json", "raw"),
    ]


def test_no_trajectory_is_a_normal_state(execution: Execution) -> None:
    leave(execution, {"logs/stdout.log": b""})
    assert trajectories.trajectory_files(execution) == []
    assert trajectories.first_index(execution) is None


def test_first_trajectory_with_steps_is_opened(execution: Execution) -> None:
    leave(
        execution, {ATIF: b"{", "artifacts/trajectory.json": {"messages": [{"role": "user", "content": "x"}]}}
    )
    index = trajectories.first_index(execution)
    assert index and index.path == "artifacts/trajectory.json"
    leave(execution, {ATIF: b"{"})
    index = trajectories.first_index(execution)
    assert index and index.steps == 0 and "cut short" in trajectories.facts_of(index).problems[0]
    assert trajectories.open_page(index, 1) == [] and trajectories.overview(index) == []


def test_page_costs_two_queries_however_large(
    execution: Execution, tmp_path: Path, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (10, 3000):
        leave(execution, {ATIF: write_atif(tmp_path / "t.json", count)})
        step_indexes.ensure_index(execution, ATIF)
        last = trajectories.page_of(count)
        with django_assert_num_queries(2):
            index = step_indexes.ensure_index(execution, ATIF)
            page = trajectories.open_page(index, last)
            trajectories.overview(index)
            trajectories.facts_of(index)
        assert page[-1][0].number == page[-1][1].number == count
        assert page[-1][1].blocks[0].text == f"Step {count}: look at the log."
        assert len(page) == min(count, 50)
        assert trajectories.open_page(index, last + 1) == [] == trajectories.open_page(index, 0)
    assert [row.number for row in trajectories.outline(index, 3, 70)] == list(range(141, 211))
    assert [row.number for row, _ in trajectories.open_page(index, 3, 70)] == list(range(141, 211))
    assert StepIndex.objects.count() == 1 and StepChunk.objects.count() == 60


def test_outline_row_tells_the_step(execution: Execution) -> None:
    index = index_of(execution, [step(1), step(2, is_copied_context=True), step(3)])
    first, _, third = trajectories.outline(index, 1)
    assert (first.source, first.title, first.calls) == ("agent", "Step 1: look at the log.", ("read_log",))
    assert (first.since_start, first.duration, third.since_start, third.duration) == (0.0, 1.0, 2.0, None)
    assert (first.tokens, first.cost_usd, third.cumulative_cost) == (110, 0.001, 0.002)
    facts = trajectories.facts_of(index)
    assert (facts.format, facts.agent, facts.model, facts.steps) == ("atif", "solo 1.0.0", "sim/one", 3)
    assert facts.started and facts.ended and (facts.ended - facts.started).total_seconds() == 2
    assert facts.totals.cost_usd == pytest.approx(0.002) and facts.totals.calls_without_cost == 0


def test_large_steps_come_cut_and_are_whole_on_their_own(execution: Execution) -> None:
    large = step(2, size=2_000_000, message="ä€" * 100_000)
    index = index_of(execution, [step(1), large, step(3), *(step(n, size=90_000) for n in range(4, 60))])
    page = trajectories.open_page(index, 1)
    message = page[1][1].blocks[0]
    assert (len(message.text), message.length, message.is_cut) == (cutting.TEXT_LIMIT, 200_000, True)
    assert page[0][1].blocks[-1].length == page[2][1].blocks[-1].length == 400
    assert sum(len(block.text) for _, one in page for block in one.blocks) < 500_000
    whole = trajectories.read_step(index, 2)
    assert whole.blocks[0].text == "ä€" * 100_000 and whole.blocks[2].length == 2_000_000
    assert b"".join(trajectories.stream_block(index, 2, 0)).decode() == "ä€" * 100_000
    assert json.loads(b"".join(trajectories.stream_raw_step(index, 2))) == large
    assert max(len(json.dumps(chunk.rows)) for chunk in StepChunk.objects.all()) < 3_000_000


def test_text_limit_cuts_small_steps_too(execution: Execution) -> None:
    index = index_of(execution, [step(1, message="x" * 500)])
    ((_, one),) = trajectories.open_page(index, 1, text_limit=100)
    assert (len(one.blocks[0].text), one.blocks[0].length) == (100, 500)


def test_step_that_is_too_large_can_only_be_downloaded(
    execution: Execution, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "PIECE_LIMIT", 200_000)
    monkeypatch.setattr(scan, "_CHUNK", 10_000)
    huge = step(2, size=300_000)
    index = index_of(execution, [step(1), huge, step(3, message="needle")])
    shown = trajectories.open_page(index, 1)[1][1]
    assert shown.blocks == () and "can be downloaded" in shown.remarks[0]
    assert trajectories.read_step(index, 2).remarks == shown.remarks
    assert json.loads(b"".join(trajectories.stream_raw_step(index, 2))) == huge
    found = find_text(index, "needle")
    assert [hit.number for hit in found] == [3] and found.skipped == (2,)
    assert {number for number, _, _ in step_texts(index)} == {1, 3}


def test_missing_steps_and_parts_are_not_found(execution: Execution) -> None:
    index = index_of(execution, [step(1)])
    for number in (0, 2, -1):
        with pytest.raises(Http404):
            trajectories.read_step(index, number)
        with pytest.raises(Http404):
            trajectories.stream_raw_step(index, number)
    with pytest.raises(Http404):
        trajectories.stream_block(index, 1, 99)
    for path in ("artifacts/none.json", f"{ATIF}#none", "\0", "#", "x" * 2000, f"{ATIF}#\ud800"):
        with pytest.raises(Http404):
            step_indexes.ensure_index(execution, path)


def test_lost_bytes_are_not_found(execution: Execution) -> None:
    index = index_of(execution, [step(1)])
    blobs.delete(execution.pack_id)
    with pytest.raises(Http404):
        trajectories.open_page(index, 1)
    with pytest.raises(Http404):
        trajectories.stream_raw_step(index, 1)
    assert trajectories.outline(index, 1)
    StepIndex.objects.all().delete()
    with pytest.raises(Http404):
        step_indexes.ensure_index(execution, ATIF)


def test_index_of_another_version_or_other_bytes_is_made_anew(execution: Execution) -> None:
    index = index_of(execution, [step(1)])
    StepIndex.objects.update(version=0)
    again = step_indexes.ensure_index(execution, ATIF)
    assert again.pk != index.pk and again.version == step_indexes.VERSION
    assert step_indexes.ensure_index(execution, ATIF).pk == again.pk
    assert index_of(execution, [step(1), step(2)]).steps == 2
    assert StepIndex.objects.count() == 1 == StepChunk.objects.count()


def test_hostile_text_survives_in_rows(execution: Execution) -> None:
    bad = "\0\ud800\x1b[31m<script>" + "x" * 100
    hostile = {
        "step_id": bad,
        "source": bad,
        "message": bad * 1000,
        "model_name": bad,
        bad: {bad: [float("nan")]},
        "tool_calls": [{"function_name": bad, "arguments": {bad: bad}, "tool_call_id": bad}],
        "observation": {
            "results": [{"content": [{"type": bad}], "subagent_trajectory_ref": {"trajectory_id": bad}}]
        },
    }
    index = index_of(
        execution, [hostile, {**hostile, "message": bad}], notes=bad, agent={"name": bad}, extra={bad: bad}
    )
    StepIndex.objects.get(pk=index.pk)
    page = trajectories.open_page(step_indexes.ensure_index(execution, ATIF), 1)
    assert [one.source for _, one in page] == [page[0][0].source] * 2
    for _, one in page:
        for block in one.blocks:
            block.text.encode()
    trajectories.facts_of(index)
    list(step_texts(index))
    assert find_text(index, "<SCRIPT>")


def test_other_trajectories_are_reachable(execution: Execution) -> None:
    inner = atif([step(1, message="deep inside")], trajectory_id="deep")
    embedded = atif(
        [step(1, **refer(trajectory_id="deep")), step(2, **refer(trajectory_id="other"))],
        trajectory_id="sub",
        subagent_trajectories=[inner],
    )
    refs = [
        refer(trajectory_id="sub"),
        refer(trajectory_path="sub-2.json"),
        refer(trajectory_path="/gone/x.json"),
    ]
    main = atif(
        [step(number, **ref) for number, ref in enumerate(refs, 1)],
        subagent_trajectories=[embedded, atif([], trajectory_id="other")],
        continued_trajectory_ref="trajectory.cont-1.json",
    )
    files = {
        ATIF: main,
        "artifacts/sub-2.json": atif([step(1)]),
        "artifacts/trajectory.cont-1.json": atif([]),
    }
    index = step_indexes.ensure_index(leave(execution, files), ATIF)
    facts = trajectories.facts_of(index)
    assert facts.continued == "artifacts/trajectory.cont-1.json"
    assert [ref.path for ref in facts.subagents] == [
        f"{ATIF}#sub",
        f"{ATIF}#other",
        "artifacts/sub-2.json",
        "",
    ]
    assert [paths(one) for _, one in trajectories.open_page(index, 1)] == [
        [f"{ATIF}#sub"],
        ["artifacts/sub-2.json"],
        [""],
    ]
    assert "not saved" in trajectories.read_step(index, 3).blocks[-1].label
    sub = step_indexes.ensure_index(execution, f"{ATIF}#sub")
    assert [paths(one) for _, one in trajectories.open_page(sub, 1)] == [
        [f"{ATIF}#sub#deep"],
        [f"{ATIF}#other"],
    ]
    deep = step_indexes.ensure_index(execution, f"{ATIF}#sub#deep")
    assert trajectories.read_step(deep, 1).blocks[0].text == "deep inside"
    assert json.loads(b"".join(trajectories.stream_raw_step(deep, 1)))["message"] == "deep inside"
    assert step_indexes.ensure_index(execution, "artifacts/sub-2.json").steps == 1
    leave(execution, {ATIF: main})
    assert "was not saved" in trajectories.facts_of(step_indexes.ensure_index(execution, ATIF)).problems[0]


def refer(**reference: str) -> dict[str, Any]:
    return {"observation": {"results": [{"content": None, "subagent_trajectory_ref": [reference]}]}}


def paths(one: Any) -> list[str]:
    return [block.subagent.path for block in one.blocks if block.subagent]


def test_pictures_lead_to_files_or_are_embedded(execution: Execution) -> None:
    def picture(path: str, kind: str = "image/png") -> dict[str, Any]:
        return {"type": "image", "source": {"media_type": kind, "path": path}}

    data = base64.b64encode(PNG).decode()
    shown = [
        *(picture(path) for path in ("images/a.png", "gone.png", "https://example.org/x.png")),
        picture(f"data:image/png;base64,{data}"),
        picture(f"data:image/svg+xml;base64,{data}", "image/svg+xml"),
    ]
    leave(execution, {ATIF: atif([step(1, message=shown)]), "artifacts/images/a.png": PNG})
    index = step_indexes.ensure_index(execution, ATIF)
    blocks = trajectories.open_page(index, 1)[0][1].blocks[:5]
    assert [block.image.path for block in blocks if block.image] == [
        *("artifacts/images/a.png", "", ""),
        *("data:", "data:"),
    ]
    assert [block.label for block in blocks][:3] == ["image", "image (not saved)", "image (elsewhere)"]
    assert blocks[3].text == "" and blocks[3].length == len(data)
    assert trajectories.image_bytes(index, 1, 3) == ("image/png", PNG)
    for block in (0, 4, 9):
        with pytest.raises(Http404):
            trajectories.image_bytes(index, 1, block)


def test_words_are_found_wherever_they_stand(execution: Execution, tmp_path: Path) -> None:
    special: dict[int, Any] = {
        137: {"message": 'The "Quick" brown\nfox'},
        251: {"message": "Grüße aus Köln"},
        252: {"tool_calls": [{"function_name": "launch_rocket", "arguments": {"to": "the moon"}}]},
    }
    leave(execution, {ATIF: write_atif(tmp_path / "t.json", 300, special=special)})
    index = step_indexes.ensure_index(execution, ATIF)

    def numbers(words: str) -> list[int]:
        return [hit.number for hit in find_text(index, words)]

    assert numbers('"quick" BROWN\nfox') == [137]
    assert numbers("GRÜSSE") == [] and numbers("grüße") == [251] and numbers("ö") == [251]
    assert numbers("Launch_Rocket") == [252] and numbers('"to": "the') == [252]
    assert numbers("step_id") == [] and numbers("  ") == []
    (hit,) = find_text(index, "quick")
    assert hit.snippet[hit.start : hit.end] == "Quick" and hit.block == 0
    first = find_text(index, "nothing to see", limit=40)
    assert len(first) == 40 and first.stopped_at == 40 and not first.is_complete
    rest = find_text(index, "nothing to see", limit=1000, after=first.stopped_at)
    assert [hit.number for hit in rest] == list(range(41, 301)) and rest.is_complete


def test_search_stops_at_its_budget_and_goes_on(execution: Execution, tmp_path: Path) -> None:
    leave(execution, {ATIF: write_atif(tmp_path / "t.json", 200, special={180: {"message": "needle"}})})
    index = step_indexes.ensure_index(execution, ATIF)
    for budget in ({"seconds": 0.0}, {"max_bytes": 1}):
        after, rounds, hits = 0, 0, []
        while True:
            found = find_text(index, "needle", after=after, **budget)
            assert found.stopped_at > after
            after, rounds = found.stopped_at, rounds + 1
            hits += [hit.number for hit in found]
            if found.is_complete:
                break
        assert hits == [180] and rounds > 2


def test_texts_for_an_index_overlap_and_lose_nothing(execution: Execution) -> None:
    words = " ".join(f"word{number}" for number in range(8000))
    index = index_of(
        execution,
        [
            step(1, message="", tool_calls=[], observation=None),
            step(2, message=words, tool_calls=[], observation=None),
        ],
    )
    found = list(step_texts(index))
    assert [(number, part) for number, part, _ in found] == [(2, part) for part in range(len(found))]
    assert all(len(text) <= PART for _, _, text in found)
    joined = found[0][2] + "".join(text[OVERLAP:] for _, _, text in found[1:])
    assert joined == words


def test_overview_is_made_of_at_most_so_many_buckets(execution: Execution, tmp_path: Path) -> None:
    bad = {"observation": {"results": [{"content": "x", "extra": {"error": "broken"}}]}}
    leave(execution, {ATIF: write_atif(tmp_path / "t.json", 1001, size=10, special={77: bad})})
    index = step_indexes.ensure_index(execution, ATIF)
    for most in (1, 7, 200, 5000):
        buckets = trajectories.overview(index, most)
        assert len(buckets) <= most
        assert [bucket.first for bucket in buckets[1:]] == [bucket.last + 1 for bucket in buckets[:-1]]
        assert (buckets[0].first, buckets[-1].last) == (1, 1001)
        assert sum(bucket.errors for bucket in buckets) == 1
        assert sum(bucket.cost or 0 for bucket in buckets) == pytest.approx(1.001)


def test_index_made_meanwhile_by_another_request_stands(execution: Execution) -> None:
    index = index_of(execution, [step(1)])
    assert step_indexes.build_index(execution, ATIF).pk == index.pk


@pytest.mark.skipif(connection.vendor == "sqlite", reason="threads of one SQLite in memory don't wait")
@pytest.mark.django_db(transaction=True)
def test_two_openings_at_once_both_succeed(execution: Execution) -> None:
    leave(execution, {ATIF: atif([step(number) for number in range(1, 200)])})
    found: list[Any] = []
    together = threading.Barrier(4)

    def opening() -> None:
        try:
            together.wait()
            found.append(len(trajectories.open_page(step_indexes.ensure_index(execution, ATIF), 2)))
        except Exception as error:
            found.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=opening) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [50] * 4
    assert StepIndex.objects.count() == 1 and StepChunk.objects.count() == 4


def test_every_recorded_trajectory_opens(imported: ImportReport) -> None:
    assert imported.landed
    formats: dict[str, int] = {}
    for execution in Execution.objects.all():
        for file in trajectories.trajectory_files(execution):
            index = step_indexes.ensure_index(execution, file.path)
            formats[index.format] = formats.get(index.format, 0) + 1
            facts = trajectories.facts_of(index)
            assert index.steps and all("finish writing" in problem for problem in facts.problems)
            for number in range(1, trajectories.page_of(index.steps) + 1):
                for row, one in trajectories.open_page(index, number):
                    assert one.blocks or "holds nothing" in " ".join(one.remarks)
                    assert row.title or not any(block.text for block in one.blocks)
    assert formats == {"atif": 236, "messages": 236, "episode": 236, "raw": 32}


def test_recorded_figures_agree_with_those_of_the_trial(imported: ImportReport) -> None:
    compared = 0
    for execution in Execution.objects.filter(is_final=True).select_related("trial"):
        index = trajectories.first_index(execution)
        if index:
            totals, trial = trajectories.facts_of(index).totals, execution.trial
            assert (totals.input_tokens, totals.output_tokens) == (trial.input_tokens, trial.output_tokens)
            assert totals.cost_usd is None or totals.cost_usd == pytest.approx(trial.cost_usd)
            compared += 1
    assert compared > 200


def test_rebuild_makes_figures_and_indexes_anew(execution: Execution, project: Project) -> None:
    before = figures()
    Tally.objects.update(score=0.123)
    lost = Execution.objects.exclude(pk=execution.pk).get()
    leave(lost, {ATIF: atif([step(1)])})
    blobs.delete(lost.pack_id)
    leave(execution, {ATIF: atif([step(1), step(2)])})
    out, err = StringIO(), StringIO()
    call_command("rebuild", stdout=out, stderr=err)
    assert figures() == before
    assert StepIndex.objects.get().steps == 2
    assert "Leaderboards: 1 made anew." in out.getvalue()
    assert "1 indexed, 0 executions without one, 1 that can't be read" in out.getvalue()
    assert Trial.objects.get(pk=lost.trial_id).client_trial_id in err.getvalue()
    out = StringIO()
    call_command("rebuild", "--steps", "--project", project.slug, stdout=out, stderr=err)
    assert "Leaderboards" not in out.getvalue()
    out = StringIO()
    call_command("rebuild", "--tallies", stdout=out)
    assert "Trajectories" not in out.getvalue()


def test_constants_fit_together() -> None:
    assert trajectories.PER_PAGE == step_indexes.CHUNK
    assert outline.LARGE_STEP * trajectories.PER_PAGE < 4_000_000
