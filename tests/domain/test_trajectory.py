"""Trajectory files of every shape become steps: nothing raises, nothing is lost, offsets are exact."""

from __future__ import annotations

import io
import json
import math
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain.trajectory import atif, cutting, episode, messages, outline, parts, raw, scan, values
from jobs.domain.trajectory.outline import Row, outline_row
from jobs.domain.trajectory.reading import Reading, reread
from jobs.domain.trajectory.scan import Fault, Piece
from jobs.domain.trajectory.types import EMBEDDED, REWARD_LABEL, Block, OutlineRow, Step
from tests import trajectories

HARBOR = Path(__file__).parents[3] / "shared/data/runners/harbor"


def read(data: bytes | Any, name: str = "trajectory.json", slow: int = 0) -> tuple[Reading, list[Row]]:
    """The reading and its rows. `slow`: bytes that come at once."""
    content = data if isinstance(data, bytes) else json.dumps(data).encode()

    def open_file() -> scan.Reader:
        stream = io.BytesIO(content)
        return lambda size: stream.read(min(size, slow) if slow else size)

    reading = Reading(open_file, name)
    return reading, list(reading.rows())


def steps(data: bytes | Any, name: str = "trajectory.json") -> list[Step]:
    """Each read again from the bytes that its row points at, as a page does it."""
    content = data if isinstance(data, bytes) else json.dumps(data).encode()
    reading, rows = read(content, name)
    form = reading.format.FORMAT
    return [
        reread(form, content[row[0] : row[0] + row[1]], number, row[11]).step
        for number, row in enumerate(rows, 1)
    ]


def listed(data: Any) -> list[OutlineRow]:
    reading, rows = read(data)
    unknown = reading.outline.facts()["cost_unknown"]
    return [outline_row(number, row, cost_unknown=unknown) for number, row in enumerate(rows, 1)]


def facts(data: bytes | Any, name: str = "trajectory.json") -> dict[str, Any]:
    reading, _ = read(data, name)
    return reading.outline.facts()


def kinds(step: Step) -> list[str]:
    return [block.kind for block in step.blocks]


def is_storable(value: Any) -> bool:
    """Whether PostgreSQL takes it as JSON."""
    if isinstance(value, dict):
        return all(is_storable(part) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return all(map(is_storable, value))
    return not isinstance(value, str) or value == values.storable(value)


# Any JSON value anywhere --------------------------------------------------------------------------------

KEYS = sorted(
    {
        *atif._STEP_KEYS,
        *messages._KEYS,
        *episode._SHOWN,
        *episode._COMMON,
        *("results", "source_call_id", "subagent_trajectory_ref", "trajectory_id", "trajectory_path"),
        *("steps", "messages", "agent", "final_metrics", "extra", "subagent_trajectories", "function", "id"),
        *("text", "image_url", "path", "url", "data", "media_type", "duration_ms", "exit_code", "is_error"),
        *("prompt_tokens", "cost_usd", "total_cost_usd", "function_name", "continued_trajectory_ref"),
    }
)
WORDS = [
    "agent",
    "user",
    "system",
    "tool",
    "assistant",
    "text",
    "image",
    "tool_use",
    "tool_result",
    "data:,x",
]
WORDS += ["model.call", "environment.step", "ATIF-v1.7", "2026-11-01T08:00:00Z", "2026-11-01T08:00:00", "\0"]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(WORDS)
    | st.sampled_from(["\ud800", "9" * 400, -1, 10**400, 1e308, math.nan, math.inf])
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inside: (
        st.lists(inside, max_size=5)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inside, max_size=8)
    ),
    max_leaves=25,
)
SHAPED = st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, ANYTHING))


@given(ANYTHING | SHAPED)
def test_any_value_is_a_step_in_every_format(value: Any) -> None:
    for module in (atif, messages, episode, raw):
        step = module.step(value, 7).step
        assert step.number == 7
        assert step.blocks or step.remarks
        for block in step.blocks:
            assert block.length == len(block.text)
            block.text.encode()
        kept = json.dumps(cutting.preview(step), allow_nan=False)
        assert is_storable(json.loads(kept))
        assert cutting.from_preview(json.loads(kept), 7).source == step.source
        assert len(outline.title(step)) <= outline.TITLE_LENGTH


@given(
    st.dictionaries(st.sampled_from(KEYS), ANYTHING | st.lists(ANYTHING | SHAPED, max_size=6)) | ANYTHING,
    st.sampled_from(["trajectory.json", "episode.jsonl", "x-trajectory.ndjson"]),
    st.sampled_from([0, 1, 3]),
)
def test_any_file_can_be_read(document: Any, name: str, slow: int) -> None:
    data = json.dumps(document).encode()
    reading, rows = read(data, name, slow)
    kept = json.dumps([reading.outline.facts(), rows], allow_nan=False)
    assert is_storable(json.loads(kept))
    for row in rows:
        assert row[4] is None or row[4] >= 0
        assert row[5] is None or row[5] >= 0


@given(st.binary(max_size=300), st.sampled_from(["trajectory.json", "trajectory.jsonl"]))
def test_any_bytes_can_be_read(data: bytes, name: str) -> None:
    read(data, name)
    read(data, name, 1)


@given(st.data())
def test_file_cut_or_changed_anywhere_gives_what_could_be_read(choice: st.DataObject) -> None:
    data = json.dumps(
        trajectories.atif([trajectories.step(number, size=30) for number in range(1, 5)])
    ).encode()
    at = choice.draw(st.integers(0, len(data) - 1))
    reading, _ = read(data[:at])
    assert reading.outline.facts()["problems"]
    byte = choice.draw(st.binary(min_size=1, max_size=1))
    read(data[:at] + byte + data[at + 1 :])


@given(ANYTHING, st.sampled_from([None, 1]), st.booleans(), st.sampled_from([1, 2, 1000]))
def test_pieces_are_where_they_say(value: Any, indent: int | None, ascii_only: bool, slow: int) -> None:
    try:
        data = json.dumps({"a": value, "steps": [value, 1]}, indent=indent, ensure_ascii=ascii_only).encode()
    except UnicodeEncodeError:
        return
    stream = io.BytesIO(data)
    found = list(scan.document(lambda size: stream.read(min(size, slow))))
    assert all(isinstance(piece, Piece) for piece in found)
    for piece in found:
        assert isinstance(piece, Piece)
        assert data[piece.offset : piece.offset + piece.size] == piece.data
        assert repr(json.loads(piece.data)) == repr(piece.value)
    assert [piece.in_list for piece in found if isinstance(piece, Piece)][-2:] == [True, True]


# Scanning ----------------------------------------------------------------------------------------------


def test_piece_that_would_fill_memory_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "PIECE_LIMIT", 1000)
    monkeypatch.setattr(scan, "_CHUNK", 100)
    large = {"step_id": 2, "message": 'x"[{\\' * 1000, "more": [{"a": [1]}]}
    document = trajectories.atif(
        [{"step_id": 1, "source": "user", "message": "a"}, large, "y" * 3000, {"step_id": 4}]
    )
    reading, rows = read(document)
    assert len(rows) == 4
    problems = reading.outline.facts()["problems"]
    assert len(problems) == 2 and all(scan.TOO_LARGE in problem for problem in problems)
    data = json.dumps(document).encode()
    assert json.loads(data[rows[1][0] : rows[1][0] + rows[1][1]]) == large
    assert json.loads(data[rows[2][0] : rows[2][0] + rows[2][1]]) == "y" * 3000
    lines = b'{"role": "user", "content": "a"}\n"' + b"z" * 5000 + b'"\n{"role": "user", "content": "b"}\n'
    reading, rows = read(lines, "trajectory.jsonl")
    assert [lines[row[0] : row[0] + row[1]][:3] for row in rows] == [b'{"r', b'"zz', b'{"r']
    assert [row[3] for row in rows] == ["a", "", "b"]


def test_memory_is_bounded_by_the_largest_step(tmp_path: Path) -> None:
    path = trajectories.write_atif(tmp_path / "t.json", 20_000)
    assert path.stat().st_size > 15_000_000
    with path.open("rb") as file:

        def open_file() -> scan.Reader:
            file.seek(0)
            return file.read

        reading = Reading(open_file, "t.json")
        tracemalloc.start()
        assert sum(1 for _ in reading.rows()) == 20_000
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 8_000_000


@pytest.mark.parametrize(
    ("data", "count", "said"),
    [
        (b"", 0, "is empty"),
        (b"  ", 0, "is empty"),
        (b"{", 0, "cut short"),
        (b"oops", 1, "is not valid JSON"),
        (b'{"steps": [{"source": "user", "message": "a"}, {"source": "us', 2, "step 2 is cut short"),
        (b'{"steps": [{"source": "user", "message": "a"} {"source": "user"}]}', 1, "',' or ']' is expected"),
        (b'{"steps": [{"a": tru}, {"source": "user", "message": "b"}]}', 2, "step 1 is not valid JSON"),
        (
            b'{"steps": [{"a": ' + b"[" * 5000 + b"]" * 5000 + b'}, {"b": 1}]}',
            2,
            "step 1 is nested too deeply",
        ),
        (b'{"steps": {"a": 1}}', 1, "is cut short"),
        (b'{"steps": []} more', 0, "goes on after the end"),
        (b'\xff\xfe{"steps": []}', 1, "is not valid JSON"),
    ],
)
def test_what_could_be_read_is_shown_with_the_problem(data: bytes, count: int, said: str) -> None:
    reading, rows = read(data, "broken.json")
    problems = " ".join(reading.outline.facts()["problems"])
    assert len(rows) == count
    if data != b'{"steps": {"a": 1}}':
        assert said in problems and "broken.json" in problems


def test_torn_step_shows_its_text() -> None:
    data = b'{"steps": [{"source": "user", "message": "hello'
    (block,) = steps(data)[0].blocks
    assert (block.kind, block.text) == ("raw", '{"source": "user", "message": "hello')


def test_torn_last_line_keeps_those_before() -> None:
    lines = b'{"kind": "agent.finish", "sequence": 1, "response": "yes"}\n{"kind": "mod'
    reading, rows = read(lines, "episode.jsonl")
    assert reading.format.FORMAT == "episode" and len(rows) == 2
    assert "step 2 is cut short" in reading.outline.facts()["problems"][0]


def test_byte_order_mark_numbers_and_bad_bytes_are_read() -> None:
    digits = b"9" * 5000
    data = (
        b'\xef\xbb\xbf{"steps": [{"source": "user", "message": "a\xff\x01\n", "n": '
        + digits
        + b', "x": NaN}]}'
    )
    (step,) = steps(data)
    assert step.blocks[0].text == "a\ufffd\x01\n"
    assert "not UTF-8" in facts(data)["problems"][0]


# Formats -----------------------------------------------------------------------------------------------


def test_atif_step_has_all_its_parts() -> None:
    (step,) = steps(
        trajectories.atif(
            [
                {
                    "step_id": 1,
                    "source": "agent",
                    "timestamp": "2026-11-01T08:00:00Z",
                    "model_name": "m",
                    "message": [
                        {"type": "text", "text": "hello"},
                        {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}},
                        {"type": "audio", "source": {"media_type": "audio/wav", "path": "a.wav"}},
                        {"type": "hologram", "x": 1},
                        None,
                    ],
                    "reasoning_content": "hm",
                    "tool_calls": [
                        {
                            "tool_call_id": "c",
                            "function_name": "f",
                            "arguments": {"a": 1},
                            "extra": {"k": "v"},
                        }
                    ],
                    "observation": {
                        "results": [
                            {"source_call_id": "c", "content": "out"},
                            {
                                "content": None,
                                "subagent_trajectory_ref": [{"trajectory_id": "t", "trajectory_path": "p"}],
                            },
                            {"source_call_id": "nobody", "content": [{"type": "text", "text": "deep"}]},
                            {"content": "Error: no such file", "extra": {"error": "no such file"}},
                        ]
                    },
                    "metrics": {
                        "prompt_tokens": 3,
                        "completion_tokens": 2.0,
                        "cached_tokens": 1,
                        "cost_usd": 0.5,
                    },
                    "extra": {"reward": 0.25, "unknown": [1]},
                    "new_key": "kept",
                }
            ]
        )
    )
    assert kinds(step) == [
        *("reasoning", "message", "image", "audio", "raw", "raw"),
        *("call", "result", "subagent", "result", "error", "reward"),
    ]
    call, result = step.blocks[6], step.blocks[7]
    assert (call.label, call.call_id, call.is_json, json.loads(call.text)) == ("f", "c", True, {"a": 1})
    assert (result.label, result.call_id, result.text) == ("f", "c", "out")
    assert step.blocks[-1].label == REWARD_LABEL
    assert (step.input_tokens, step.output_tokens, step.cached_tokens, step.cost_usd) == (3, 2, 1, 0.5)
    extra = json.loads(step.extra)
    assert extra["new_key"] == "kept" and extra["extra"]["unknown"] == [1]
    assert extra["tool_calls[0]"] == {"extra": {"k": "v"}}
    assert [remark for remark in step.remarks if "nobody" in remark]


def test_result_that_repeats_its_message_is_shown_once() -> None:
    observed = {"results": [{"content": "output of the tool"}]}
    step = {"step_id": 1, "source": "agent", "message": "output of the tool", "observation": observed}
    assert kinds(steps(trajectories.atif([step]))[0]) == ["result"]


@pytest.mark.parametrize("extra", [{"exec_exit_code": 2}, {"is_error": True}, {"exec_status": "failed"}])
def test_failure_told_by_extra_marks_the_result(extra: dict[str, Any]) -> None:
    step = {"step_id": 1, "source": "agent", "message": "", "extra": extra}
    with_result = {**step, "observation": {"results": [{"content": "out"}]}}
    assert kinds(steps(trajectories.atif([with_result]))[0])[0] == "error"
    assert listed(trajectories.atif([with_result]))[0].is_error
    assert listed(trajectories.atif([step]))[0].is_error


def test_cost_of_zero_everywhere_without_a_total_is_unknown() -> None:
    free = [trajectories.step(number, metrics={"cost_usd": 0.0, "prompt_tokens": 1}) for number in (1, 2)]
    found = facts(trajectories.atif(free))
    assert found["totals"][3:] == [None, 2] and outline.UNKNOWN_COST in found["notes"]
    assert [row.cost_usd for row in listed(trajectories.atif(free))] == [None, None]
    assert facts(trajectories.atif(free, final_metrics={"total_cost_usd": 0.0}))["totals"][3] == 0.0


def test_copied_context_is_left_out_of_sums() -> None:
    rows = listed(trajectories.atif([trajectories.step(1, is_copied_context=True), trajectories.step(2)]))
    assert [row.is_copied for row in rows] == [True, False]
    assert [row.cumulative_cost for row in rows] == [None, 0.001]
    found = facts(trajectories.atif([trajectories.step(1, is_copied_context=True), trajectories.step(2)]))
    assert found["totals"][:4] == [100, 10, 5, 0.001]


def test_declared_totals_win_and_differences_are_told() -> None:
    metrics = {"total_prompt_tokens": 7, "total_cost_usd": 5.0, "extra": {"calls_missing_cost": 3}}
    found = facts(trajectories.atif([trajectories.step(1)], final_metrics={**metrics, "total_steps": 9}))
    assert found["totals"] == [7, 10, 5, 5.0, 3]
    assert [note for note in found["notes"] if "add up to $0.001" in note]
    assert [note for note in found["notes"] if "9 steps; there are 1" in note]


def test_disordered_equal_and_missing_times_give_no_negative_duration() -> None:
    times = [
        "2026-11-01T08:00:10Z",
        "2026-11-01T08:00:00+00:00",
        None,
        "soon",
        1793520010,
        "2026-11-01T08:00:10",
    ]
    rows = listed(trajectories.atif([trajectories.step(n, timestamp=t) for n, t in enumerate(times, 1)]))
    assert [row.duration for row in rows] == [None, None, None, None, 0.0, None] or all(
        row.duration is None or row.duration >= 0 for row in rows
    )
    assert all(row.since_start is None or row.since_start >= 0 for row in rows)
    found = facts(trajectories.atif([trajectories.step(n, timestamp=t) for n, t in enumerate(times, 1)]))
    assert [note for note in found["notes"] if "backwards, first at step 2" in note]
    assert found["started"] <= found["ended"]


def test_messages_of_a_model_call() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    document = {
        "finalized": False,
        "messages": [
            {"role": "system", "content": ""},
            {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "name": "f", "content": "out"},
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}],
            },
            {"role": "ghost", "content": {"deep": 1}},
            "not a message",
        ],
        "status": "truncated",
    }
    found = steps(document)
    assert [step.source for step in found] == ["system", "agent", "tool", "user", "ghost", ""]
    assert kinds(found[1]) == ["reasoning", "call"]
    assert (found[2].blocks[0].call_id, found[2].blocks[0].text) == ("c", "out")
    image = found[3].blocks[0]
    assert image.image and (image.image.path, image.image.media_type) == (EMBEDDED, "image/png")
    assert cutting.cut(found[3], 10).blocks[0].text == "" and image.text == "AA=="
    about = facts(document)
    assert "Status: truncated" in about["notes"] and about["problems"]


def test_anthropic_parts_are_told_apart() -> None:
    content = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
        {"type": "tool_result", "tool_use_id": "t", "content": "bad", "is_error": True},
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "good"}]},
    ]
    (step,) = steps({"messages": [{"role": "assistant", "content": content}]})
    assert kinds(step) == ["reasoning", "call", "error", "result"]
    assert {block.call_id for block in step.blocks[1:]} == {"t"}


def test_episode_events() -> None:
    events: list[Any] = [
        {"kind": "environment.reset", "sequence": 1, "observation": {"text": "go"}, "duration_ms": 5},
        {
            "kind": "environment.step",
            "sequence": 2,
            "action": "route",
            "arguments": {"team": "people"},
            "error": "unknown team",
            "content": "Error: unknown team",
            "observation": None,
            "reward": -0.1,
            "rewards": [{"name": "check", "value": -0.1}],
            "terminated": True,
        },
        {"kind": "model.call", "sequence": 3, "messages": [{"role": "user", "content": "q"}], "text": "a"},
        {"kind": "agent.finish", "sequence": 4, "response": {"a": 1}},
        {"kind": "meteor", "sequence": 5, "x": 1},
        [],
    ]
    data = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    found = steps(data, "episode.jsonl")
    assert [kinds(step) for step in found] == [
        ["result"],
        ["call", "error", "reward"],
        ["message", "message"],
        ["message"],
        ["raw"],
        ["raw"],
    ]
    assert "unknown" in found[4].remarks[0]
    assert read(data, "episode.jsonl")[1][0][5] == 0.005


def test_agent_native_log_is_shown_as_raw_json() -> None:
    found = steps({"events": [{"type": "tick", "n": 1}], "info": {"a": 1}})
    assert [(step.source, kinds(step), step.blocks[0].label) for step in found] == [
        ("tick", ["raw"], "events"),
        ("info", ["raw"], "info"),
    ]


def test_lines_of_messages_are_messages() -> None:
    (step,) = steps(b'{"content": "x", "role": "assistant", "type": "message"}\n', "trajectory.jsonl")
    assert (step.source, kinds(step), step.extra) == ("agent", ["message"], "")


def test_embedded_trajectories_get_handles_of_their_own() -> None:
    inner: list[Any] = [{"trajectory_id": ident, "steps": []} for ident in ("a", "a", "x#y", None, "\0")]
    embedded = facts(trajectories.atif([], subagent_trajectories=inner))["embedded"]
    handles = [handle for handle, *_ in embedded]
    assert handles[0] == "a" and len(set(handles)) == 5
    assert all(handle.isprintable() and "#" not in handle for handle in handles)


@pytest.mark.parametrize("count", [0, 1, 399, 400, 401, 1000, 1601])
def test_overview_is_of_constant_size_and_counts_everything(count: int) -> None:
    kept = facts(trajectories.atif([trajectories.step(n, size=1) for n in range(1, count + 1)]))["buckets"]
    assert len(kept["runs"]) <= outline.BUCKETS
    assert sum(sum(run[3].values()) for run in kept["runs"]) == count
    assert sum(run[2] for run in kept["runs"]) == pytest.approx(0.001 * count)
    assert len(kept["runs"]) == -(-count // kept["width"])


def test_preview_is_bounded() -> None:
    blocks = [Block("message", "m", "x" * 9000, 9000) for _ in range(200)]
    step = parts.step(1, "agent", blocks).step
    kept = cutting.preview(step)
    assert len(json.dumps(kept)) < cutting.PREVIEW_CHARACTERS + 20_000
    again = cutting.from_preview(kept, 1)
    assert again.blocks[0].is_cut and again.blocks[0].length == 9000
    assert "150 more parts" in again.remarks[-1]
    short = cutting.cut(step, 100)
    assert [len(block.text) for block in short.blocks] == [100] * cutting.PREVIEW_BLOCKS
    assert short.remarks == again.remarks


def test_times_amounts_and_counts() -> None:
    assert values.amount(True) is None and values.amount(-1) is None and values.amount(math.nan) is None
    assert values.count(3.0) == 3 and values.count(3.5) is None and values.count(10**400) is None
    seconds, milliseconds = values.time(1793520000), values.time(1793520000000)
    assert seconds == milliseconds and seconds is not None
    assert values.time("0001-01-01T00:00:00+14:00") is None


@pytest.mark.skipif(not HARBOR.is_dir(), reason="the recorded Harbor runs are not here")
def test_recorded_harbor_trajectories_read_without_a_problem() -> None:
    paths = sorted(HARBOR.glob("**/trajectory*.json"))
    assert len(paths) >= 13
    for path in paths:
        data = path.read_bytes()
        found = facts(data, path.name)
        read_again = steps(data, path.name)
        assert found["problems"] == [] and len(read_again) == len(json.loads(data)["steps"])
        for step in read_again:
            assert step.source in ("system", "user", "agent") and step.blocks
            assert not [block for block in step.blocks if block.kind == "raw"]


def test_faults_are_values() -> None:
    assert list(scan.document(io.BytesIO(b"{1").read)) == [
        Fault(1, "is not valid JSON: a key and ':' are expected")
    ]
