"""Every number of every board of the demo is one number, to the last digit, wherever it stands."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from benchmarks.board.parts import BoardRow
from benchmarks.domain.explanation import OF_CATEGORY, OF_WHOLE, OUTCOME_NAMES
from benchmarks.models import Revision
from jobs.imports import ImportReport
from plural_site import formats
from plural_site.accounts.models import Project
from tests.proving import HOME, Proof, check_funnel, check_shown, figures_of, proof_of, rows_of

BOARDS = [(number, track) for number in (1, 2) for track in ("controlled", "open", "none")]
Numbers = dict[str, str]
"""What a place says of an entry, by name. Names that end in "=" are of unrounded numbers."""
HOVER = re.compile(
    r"<b>(?P<name>.*)</b><br>(?:rank )?(?P<rank>.*)<br>(?P<score>\S+)(?: %)?, (?:95 % interval )?"
    r"(?P<interval>.*)<br>(?P<amount>.*) per attempt, (?P<measured>.*)"
)


@dataclass(frozen=True)
class Site:
    """One board of the demo, with its range of scores."""

    visitor: Client
    revision: int
    track: str
    low: float
    high: float

    @property
    def path(self) -> str:
        return f"{HOME}/benchmarks/support-triage@{self.revision}"

    def get(self, part: str = "", **query: Any) -> Any:
        response = self.visitor.get(f"{self.path}{part}", {"track": self.track, **query})
        assert response.status_code == 200, (part, query)
        return response

    def page(self, part: str = "", **query: Any) -> Any:
        return self.get(part, **query).context["page"]

    def score(self, value: float | None) -> str:
        return formats.score_text(value, self.low, self.high)

    def interval(self, low: float | None, high: float | None) -> str:
        return "no interval" if low is None or high is None else f"{self.score(low)} – {self.score(high)}"

    def whole(self, values: Mapping[str, Any]) -> Numbers:
        """Unrounded numbers of an entry or of one category of it as pages print them, and as they are."""
        known = values["low"] is not None or values["score"] is not None
        return {
            "score": self.score(values["score"]),
            "interval": self.interval(values["low"], values["high"]) if known else "no score",
            "success": formats.percent(values["success_rate"]),
            "coverage": formats.percent(values["coverage"]),
            "cost": bound(formats.money(values["cost"]), values["cost_partial"]),
            "cost of": f"measured {values['cost_measured']} of {values['cost_attempts']}",
            "total": bound(
                formats.money(values["cost_total"]),
                values["cost_partial"] or values["cost_measured"] < values["cost_attempts"],
            ),
            "latency": formats.seconds(values["latency"]),
            "latency of": f"measured {values['latency_measured']} of {values['latency_attempts']}",
            **unrounded(
                score=values["score"],
                low=values["low"],
                high=values["high"],
                success=values["success_rate"],
                coverage=values["coverage"],
                cost=values["cost"],
                total=values["cost_total"],
                latency=values["latency"],
            ),
        }


def bound(text: str, least: bool) -> str:
    return f"≥ {text}" if least and text != formats.DASH else text


def unrounded(**values: float | None) -> Numbers:
    return {f"{name}=": "" if value is None else repr(float(value)) for name, value in values.items()}


def of_part(part: str, numbers: Mapping[str, str]) -> Numbers:
    return {f"{part}: {name}": text for name, text in numbers.items()}


# Where numbers stand ---------------------------------------------------------------------------------


def on_row(row: BoardRow) -> Numbers:
    found = {name: text for name, text, _ in figures_of(row)}
    notes = {"success": row.success, "pass": row.pass_hat, "coverage": row.coverage, "cost": row.cost}
    notes |= {"latency": row.latency, "attempts": row.attempts}
    found |= {f"{name} of": figure.note for name, figure in notes.items()}
    for cell in row.categories:
        numbers = {"score": cell.score.text, "coverage of": cell.coverage.removesuffix(" Tasks")}
        numbers |= {"interval": cell.interval} if cell.interval else {}
        found |= of_part(cell.column.removeprefix("category."), numbers)
    return found


def in_json(site: Site, entry: Mapping[str, Any], shared: bool) -> Numbers:
    def flat(values: Mapping[str, Any]) -> Numbers:
        cost, latency = values["cost"], values["latency"]
        more = {f"cost_{name}": value for name, value in cost.items()}
        more |= {f"latency_{name}": value for name, value in latency.items()}
        return {
            **site.whole(
                {
                    **values,
                    **values["uncertainty"],
                    **more,
                    "cost": cost["value"],
                    "latency": latency["value"],
                }
            ),
            "coverage of": f"{values['tasks_covered']} of {values['tasks_total']}",
        }

    attempts = sum(entry["outcomes"].values())
    found = {
        **flat(entry),
        **of_entry(entry["rank"], shared, entry["complete_coverage"], entry["completion_rate"]),
        **{key: str(entry["outcomes"].get(key, 0)) for key in OUTCOME_NAMES},
        "attempts": str(attempts),
        "attempts of": f"{attempts} of {entry['planned']} planned" if entry["missing"] else "",
        "jobs": str(len(entry["jobs"])),
        **unrounded(rank=entry["rank"], attempts=attempts, jobs=len(entry["jobs"])),
        **unrounded(**{key: entry["outcomes"].get(key, 0) for key in OUTCOME_NAMES}),
    }
    for part in entry["categories"]:
        found |= of_part(part["id"], flat(part))
    for task in entry["tasks"]:
        found |= of_task(task["task"], site.score(task["score"]), str(task["valid"]))
        found |= of_part(task["task"], unrounded(score=task["score"]) if task["valid"] else {})
    return found


def in_csv(site: Site, line: Mapping[str, str], shared: bool) -> Numbers:
    values = {name: parsed(text) for name, text in line.items()}
    k = f"k = {line['k']}"
    found = {
        **site.whole(values),
        **of_entry(values["rank"], shared, values["complete_coverage"], values["completion_rate"]),
        "success of": f"{line['successes']} of {line['valid']}" if line["success_rate"] else "",
        "spread": site.score(values["spread"]),
        "pass": formats.percent(values["pass_hat"]),
        "pass of": k if line["pass_hat"] else "",
        **unrounded(spread=values["spread"], **{"pass": values["pass_hat"]}),
        "attempts": line["attempts"],
        "attempts of": f"{line['attempts']} of {line['planned']} planned" if values["missing"] else "",
        "jobs": str(len(line["jobs"].split("; "))),
    }
    for name in line:
        if name.startswith("category."):
            found |= of_part(name.removeprefix("category."), {"score": site.score(values[name])})
    return found


def parsed(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def of_entry(rank: int | None, shared: bool, complete: float, completion: float | None) -> Numbers:
    return {
        "rank": formats.DASH if rank is None else f"{rank}{'=' if shared else ''}",
        "complete": formats.percent(complete),
        "completion": formats.percent(completion),
        **unrounded(complete=complete, completion=completion),
    }


def of_task(task: str, score: str, valid: str = "") -> Numbers:
    return of_part(task, {"score": score, **({"valid": valid} if valid else {})})


def on_compare(page: Any) -> Iterable[tuple[str, Numbers]]:
    for row in page.rows:
        yield row.key, on_row(row)
    for pair in page.pairs:
        cost, latency = pair.measures
        for key, side in ((page.rows[0].key, "a"), (pair.key, "b")):
            numbers: Numbers = {}
            for name, measure in (("cost", cost), ("latency", latency)):
                figure = getattr(measure, side)
                numbers |= {name: figure.text, f"{name} of": figure.note}
            for task in pair.tasks:
                figure = getattr(task, side)
                numbers |= of_task(task.task, figure.text, figure.note.split()[0])
            yield key, numbers
        if not pair.missing:
            (fact,) = [fact for fact in pair.facts if fact.label == "Scores on common Tasks"]
            for key, score in zip((page.rows[0].key, pair.key), fact.figure.text.split(" and "), strict=True):
                yield key, {"score": score}


def on_grid(page: Any, part: str = "") -> Iterable[tuple[str, Numbers]]:
    for place, column in enumerate(page.columns):
        numbers = {"score": column.score.text}
        found = {"rank": column.rank, **(of_part(part, numbers) if part else numbers)}
        for row in page.rows:
            found |= of_task(row.task, row.cells[place].score.text)
        yield column.score.href.split("entry=")[1].split("&")[0], found


def on_chart(site: Site, part: str, by: str) -> Iterable[tuple[str, Numbers]]:
    query = {"category": part, **({"x": "latency"} if by == "latency" else {})}
    rows = site.page(**query).table.chart.rows
    keys = {row.agent: row.href.removeprefix("#entry-") for row in rows}
    for row in rows:
        numbers = {"score": row.score, "interval": row.interval, by: row.amount.text}
        numbers |= {f"{by} of": row.amount.note}
        yield keys[row.agent], of_part(part, numbers) if part else numbers
    for trace in json.loads(site.get("/chart.json", **query).content)["data"]:
        if trace["mode"] != "markers":
            continue
        bars = trace["error_y"]
        for x, y, text, up, down in zip(
            trace["x"], trace["y"], trace["hovertext"], bars["array"], bars["arrayminus"], strict=True
        ):
            found = HOVER.fullmatch(text)
            assert found, text
            drawn = {"score": site.score(y / 100), **unrounded(**{by: x})}
            if up is not None:
                drawn["interval"] = site.interval((y - down) / 100, (y + up) / 100)
            words = {name: found[name] for name in ("score", "interval")}
            words |= {by: found["amount"], f"{by} of": found["measured"]}
            for numbers in (drawn, words):
                yield keys[found["name"]], of_part(part, numbers) if part else numbers
            rank = formats.DASH if found["rank"] == "not ranked" else found["rank"]
            yield keys[found["name"]], {"rank": rank}


def on_proofs(site: Site, row: BoardRow) -> Numbers:
    found: Numbers = {}

    def add(name: str, proof: Proof, prefix: str) -> None:
        check_shown(name, proof.page.shown.text, proof, site.low, site.high)
        numbers = {name: proof.page.shown.text}
        ends = ("low", "high") if name == "interval" else (name,)
        values: Sequence[float | None] = [*map(float, proof.exact.values())] or [None] * len(ends)
        numbers |= unrounded(**dict(zip(ends, values, strict=True)))
        found.update(of_part(prefix, numbers) if prefix else numbers)

    score = proof_of(site.visitor, row.score.href)
    for task in score.page.tasks:
        found |= of_task(task.task, formats.DASH, task.valid)
        if task.figure != formats.DASH:
            value = float(task.figure)
            found |= of_task(task.task, site.score(value)) | of_part(task.task, unrounded(score=value))
    names = list(OF_WHOLE)
    for part in ("", *(cell.column.removeprefix("category.") for cell in row.categories)):
        suffix = f"&category={part}" if part else ""
        others = proof_of(site.visitor, f"{row.score.href}{suffix}").page.others
        assert [other.href.partition("figure=")[2] for other in others] == [f"{n}{suffix}" for n in names]
        for name, other in zip(names, others, strict=True):
            add(name, proof_of(site.visitor, other.href), part)
        names = list(OF_CATEGORY)
    return found


# The test --------------------------------------------------------------------------------------------


@dataclass
class Ledger:
    """By entry and name of a number, the places and what they say."""

    said: dict[tuple[str, str], dict[str, str]]

    def note(self, place: str, numbers: Iterable[tuple[str, Numbers]]) -> None:
        for key, found in numbers:
            for name, text in found.items():
                before = self.said[key, name].setdefault(place, text)
                assert before == text, (place, key, name)

    def check(self) -> None:
        assert {what: places for what, places in self.said.items() if len(set(places.values())) > 1} == {}
        assert [what for what, places in self.said.items() if len(places) < 2] == []

    def places(self, name: str) -> set[str]:
        """That say it of every entry."""
        return set.intersection(*(set(found) for (_, known), found in self.said.items() if known == name))


def exports(site: Site) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    """Entries of JSON and lines of CSV, the same from the page's links, the API and the command."""
    page = site.page()
    as_json, as_csv = (site.visitor.get(href).content.decode() for href in (page.json_href, page.csv_href))
    for option, text in (("--json", as_json), ("--csv", as_csv)):
        printed = io.StringIO()
        name = f"support-triage@{site.revision}"
        call_command("leaderboard", name, option, project="triage", track=site.track, stdout=printed)
        assert printed.getvalue() == text
    api = f"/api/v1/benchmarks/support-triage/revisions/{site.revision}/leaderboard"
    answers = [
        site.visitor.get(api, {"project": "triage", "track": site.track, "tasks": tasks}).json()["entries"]
        for tasks in ("false", "true")
    ]
    assert answers[0] == [{**entry, "tasks": []} for entry in json.loads(as_json)["entries"]]
    assert [{**entry, "tasks": []} for entry in answers[1]] == answers[0]
    return answers[1], list(csv.DictReader(io.StringIO(as_csv)))


@pytest.mark.parametrize(("number", "track"), BOARDS)
def test_every_number_of_the_demo(
    number: int, track: str, imported: ImportReport, project: Project, visitor: Client
) -> None:
    revision = Revision.objects.get(resource__kind="benchmark", number=number)
    site = Site(visitor, number, track, *revision.rules.scoring.score_range)
    rows, wide = rows_of(site.page()), rows_of(site.page(view="categories"))
    entries, lines = exports(site)
    ledger = Ledger(defaultdict(dict))
    hrefs = {href for row in rows for _, _, href in figures_of(row)}
    for row, more, entry, line in zip(rows, wide, entries, lines, strict=True):
        assert row.key == more.key == entry["configuration"].removeprefix("sha256:")[:12]
        shared = [other["rank"] for other in entries].count(entry["rank"]) > 1 and bool(entry["rank"])
        ledger.note("board", [(row.key, on_row(row)), (row.key, on_row(more))])
        ledger.note("JSON", [(row.key, in_json(site, entry, shared))])
        ledger.note("CSV", [(row.key, in_csv(site, line, shared))])
        ledger.note("proof", [(row.key, on_proofs(site, more))])
        check_funnel(visitor, row.score.href)
        hrefs |= {cell.score.href for cell in more.categories}
    parts = [category.id for category in revision.rules.categories]
    for part in ("", *parts):
        ledger.note("chart", [*on_chart(site, part, "cost"), *on_chart(site, part, "latency")])
        page = site.page("/grid", category=part)
        ledger.note("grid", on_grid(page, part))
        assert {column.score.href for column in page.columns} <= hrefs
        assert {column.rank_href for column in page.columns} <= hrefs
    for row in rows if len(rows) > 1 else ():
        page = site.page("/compare", a=row.key, b=[other.key for other in rows if other != row])
        ledger.note("compare", on_compare(page))
        assert {href for other in page.rows for _, _, href in figures_of(other)} <= hrefs
    ledger.check()
    everywhere = {"board", "JSON", "CSV", "proof", "chart", "grid"} | (
        {"compare"} if len(rows) > 1 else set()
    )
    assert ledger.places("score") == everywhere
    assert ledger.places("rank") >= everywhere - {"chart"}
    for name in ("interval", "cost", "cost of", "latency", "latency of"):
        assert ledger.places(name) >= everywhere - {"grid"} - ({"proof"} if "of" in name else set())
    for name in ("success", "coverage", "attempts", "jobs", "spread", "pass"):
        assert ledger.places(name) >= everywhere - {"grid", "chart"} - (
            {"JSON"} if name in ("spread", "pass") else set()
        )
    for part in parts:
        assert ledger.places(f"{part}: score") == everywhere - {"compare"}
    for name in revision.pins.values_list("name", flat=True):
        assert ledger.places(f"{name}: score") >= {"JSON", "grid", "proof"}


def test_these_are_all_boards_of_the_demo(imported: ImportReport, project: Project, visitor: Client) -> None:
    found = []
    for revision in Revision.objects.filter(resource__kind="benchmark").order_by("number"):
        for track in (*revision.tracks.values_list("track_id", flat=True).order_by("track_id"), "none"):
            assert (
                visitor.get(f"{HOME}/benchmarks/support-triage@{revision.number}?track={track}").status_code
                == 200
            )
            found.append((revision.number, track))
    assert found == BOARDS
