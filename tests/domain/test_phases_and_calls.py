"""Timelines of receipts and model calls of trajectories, also where the run wrote rubbish."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.domain.model_calls import model_calls
from jobs.domain.phases import MAX_LANES, MAX_LISTED, WIDTH, timeline

START = datetime(2026, 11, 1, tzinfo=UTC)


def phase(name: str, start: float, end: float) -> dict[str, str]:
    return {
        "name": name,
        "started_at": (START + timedelta(seconds=start)).isoformat(),
        "completed_at": (START + timedelta(seconds=end)).isoformat().replace("+00:00", "Z"),
    }


def test_phases_of_one_name_share_a_lane() -> None:
    found = timeline([phase("setup", 0, 1), phase("run", 1, 9), phase("setup", 9, 10)])
    assert found is not None
    setup, run = found.lanes
    assert (setup.name, setup.count, setup.seconds, setup.start) == ("setup", 2, 2.0, 0.0)
    assert [(span.x, span.width) for span in setup.spans] == [(0, 30), (270, 30)]
    assert [(span.x, span.width) for span in run.spans] == [(30, 240)]
    assert (found.seconds, found.overlaps, found.unreadable) == (10.0, False, 0)
    assert [(one.name, one.start) for one in found.phases] == [("setup", 0.0), ("run", 1.0), ("setup", 9.0)]


def test_overlaps_are_said_and_short_phases_are_still_drawn() -> None:
    found = timeline([phase("a", 0, 100), phase("b", 50, 50.001)])
    assert found is not None
    assert found.overlaps
    assert found.lanes[1].spans[0].width == 1


def test_ten_thousand_phases_are_bounded() -> None:
    entries = [phase(f"name-{n % 40}", n, n + 0.4) for n in range(10_000)]
    found = timeline(entries)
    assert found is not None
    assert (len(found.lanes), found.lanes_total) == (MAX_LANES, 40)
    assert (len(found.phases), found.phases_total) == (MAX_LISTED, 10_000)
    assert all(len(lane.spans) <= WIDTH // 2 for lane in found.lanes)
    assert all(span.x >= 0 and span.x + span.width <= WIDTH for lane in found.lanes for span in lane.spans)


@pytest.mark.parametrize(
    "entries",
    [None, [], {}, "phases", [1], [{"name": "a"}], [{"name": 1}], [phase("a", 0, 1) | {"started_at": 3}]],
)
def test_no_phases_are_no_timeline(entries: Any) -> None:
    assert timeline(entries) is None


def test_odd_phases_are_left_out_and_counted() -> None:
    backwards, instant = phase("back", 5, 1), phase("now", 0, 0)
    naive = {"name": "naive", "started_at": "2026-11-01T00:00:02", "completed_at": "2026-11-01T00:00:03"}
    found = timeline([backwards, instant, naive, {"name": "x", "started_at": "soon", "completed_at": "late"}])
    assert found is not None
    assert found.unreadable == 1
    assert {lane.name: lane.seconds for lane in found.lanes} == {"now": 0.0, "naive": 1.0, "back": 0.0}
    only = timeline([instant])
    assert only is not None
    assert [(span.x, span.width) for span in only.lanes[0].spans] == [(0, 1)]


def step(number: int, **metrics: Any) -> dict[str, Any]:
    return {
        "step_id": number,
        "source": "agent",
        "llm_call_count": 1,
        "model_name": "m/one",
        "metrics": metrics,
    }


def test_calls_are_listed_and_summed() -> None:
    found = model_calls(
        {
            "steps": [
                {"step_id": 1, "source": "user"},
                step(2, prompt_tokens=10, completion_tokens=1, cost_usd=0.25, extra={"duration_ms": 1500}),
                {**step(3, prompt_tokens=5), "model_name": "m/two", "llm_call_count": 2},
                {**step(4, cost_usd=9.0), "llm_call_count": 0},
            ],
            "final_metrics": {"extra": {"calls_missing_cost": 2}},
        }
    )
    first, second = found.listed
    assert (first.step, first.cost, first.seconds, first.output_tokens) == ("2", 0.25, 1.5, 1)
    assert (second.calls, second.cost, second.input_tokens) == (2, None, 5)
    whole = found.whole
    assert (whole.calls, whole.cost, whole.input_tokens, whole.without_cost) == (3, 0.25, 15, 2)
    assert [(use.model, use.calls, use.cost) for use in found.models] == [
        ("m/two", 2, None),
        ("m/one", 1, 0.25),
    ]
    assert found.reported_without_cost == 2


def test_unknown_is_not_zero() -> None:
    whole = model_calls({"steps": [step(1)]}).whole
    assert (whole.cost, whole.input_tokens, whole.without_cost) == (None, None, 1)
    assert model_calls({"steps": [step(1, cost_usd=0.0)]}).whole.cost == 0.0


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"steps": {}},
        {"steps": [None, 1, [], {}]},
        {"steps": [], "final_metrics": [], "extra": 1},
    ],
)
def test_rubbish_is_no_call(document: dict[str, Any]) -> None:
    assert model_calls(document).steps == 0


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -1, "1", True, 10**400, None, []])
def test_odd_figures_count_as_not_reported(odd: Any) -> None:
    found = model_calls({"steps": [step(1, cost_usd=odd, prompt_tokens=odd, extra=odd)]})
    assert (found.whole.cost, found.whole.input_tokens) == (None, None)
