"""What a Task pins: its text, its Environment and Verifiers, and the parts that stay private."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.domain.definitions import BenchmarkRules
from benchmarks.models import Kind, Revision, TaskPin
from benchmarks.pages import Figure
from jobs.agent_pages import PinnedRow, PrivatePart
from jobs.board import Board
from jobs.compare_links import grid_href
from plural_site import formats, markdown
from plural_site.accounts.models import Project

LONGEST_PRIVATE = 20_000
LISTED = 50
VERIFIER_KINDS = {
    "deterministic": "deterministic check",
    "agent": "judged by an Agent",
    "human": "reviewed by a person",
}
PRIVATE = (
    ("expected", "Expected answer"),
    ("initial_state", "Initial State"),
    ("reset_options", "Reset options"),
    ("info", "Info"),
    ("metadata", "Metadata"),
)


class TaskContent:
    """Reads what the Task depends on in one query. Contents come from outside: nothing in them is sure."""

    def __init__(self, project: Project, pin: TaskPin, rules: BenchmarkRules) -> None:
        self.pin, self.rules = pin, rules
        self.content = pin.task_revision.content
        environment = self.content.get("environment")
        self.environment = environment if isinstance(environment, str) else ""
        self.verifiers = [digest for digest in self._list("verifiers") if isinstance(digest, str)]
        found = Revision.objects.with_release().filter(
            resource__project=project,
            resource__kind__in=(Kind.ENVIRONMENT, Kind.VERIFIER),
            content_hash__in={self.environment, *self.verifiers},
        )
        self.held = {row.content_hash: row for row in found.select_related("resource", "release")}

    def _list(self, key: str) -> list[Any]:
        value = self.content.get(key)
        return value if isinstance(value, list) else []

    def categories(self, board: Board) -> tuple[Figure, ...]:
        """Each leads to the grid of its Tasks."""
        return tuple(
            Figure(formats.clean_text(category.name), href=grid_href(board, category=category.id))
            for category in self.rules.categories
            if self.pin.name in category.tasks
        )

    def instructions(self) -> str:
        text = self.content.get("instructions")
        return markdown.render(text) if isinstance(text, str) and text.strip() else ""

    def seats(self) -> tuple[tuple[str, str], ...]:
        seats = self.content.get("seat_instructions")
        if not isinstance(seats, Mapping):
            return ()
        return tuple(
            (formats.clean_text(seat), markdown.render(str(text))) for seat, text in [*seats.items()][:LISTED]
        )

    def goals(self) -> tuple[str, ...]:
        return formats.clean_texts(
            goal if isinstance(goal, str) else _json(goal) for goal in self._list("goals")
        )

    def limits(self) -> str:
        """Of the Environment: for every attempt."""
        held = self.held.get(self.environment)
        limits = held.content.get("limits") if held else None
        if not isinstance(limits, Mapping):
            return "unknown: the Environment is not held here"
        turns, seconds, cost = (limits.get(key) for key in ("max_turns", "max_seconds", "max_cost_usd"))
        return ", ".join(
            (
                "any number of turns" if turns is None else f"{turns:g} turns",
                "any time" if seconds is None else formats.seconds(seconds),
                "any cost" if cost is None else formats.money(cost),
            )
        )

    def pinned(self) -> tuple[PinnedRow, ...]:
        return (
            *([self._environment()] if self.environment else []),
            *(self._verifier(digest) for digest in self.verifiers),
        )

    def private(self) -> tuple[PrivatePart, ...]:
        """Only what is there, each cut at LONGEST_PRIVATE characters."""
        parts = []
        for key, label in PRIVATE:
            value = self.content.get(key)
            if value in (None, {}, [], ""):
                continue
            text = formats.clean_text(_json(value))
            if len(text) > LONGEST_PRIVATE:
                text = f"{text[:LONGEST_PRIVATE]}\n… cut after {formats.count(LONGEST_PRIVATE)} characters"
            parts.append(PrivatePart(label, text))
        return tuple(parts)

    def _environment(self) -> PinnedRow:
        held = self.held.get(self.environment)
        content = held.content if held else {}
        apps = [app for app in content.get("apps") or () if isinstance(app, Mapping)]
        facts = [str(content.get("description") or "")]
        for app in apps[:LISTED]:
            names = [
                str(action.get("name")) for action in app.get("actions") or () if isinstance(action, Mapping)
            ]
            facts.append(f"App {app.get('name')}: {', '.join(names[:LISTED]) or 'no actions'}")
        return self._row("Environment", self.environment, "", facts, ())

    def _verifier(self, digest: str) -> PinnedRow:
        held = self.held.get(digest)
        content = held.content if held else {}
        kind = str(content.get("kind") or "")
        criteria = [_criterion(each) for each in (content.get("criteria") or ())[:LISTED]]
        return self._row("Verifier", digest, VERIFIER_KINDS.get(kind, kind), [], criteria)

    def _row(
        self, role: str, digest: str, kind: str, facts: Sequence[str], criteria: Sequence[str]
    ) -> PinnedRow:
        held = self.held.get(digest)
        return PinnedRow(
            role=role,
            name=formats.clean_text(held.resource.name) if held else "not held in this project",
            version=_version(held) if held else "",
            number=str(held.number) if held else "",
            content_hash=digest,
            short_hash=digest.removeprefix("sha256:")[:12],
            kind=formats.clean_text(kind),
            facts=formats.clean_texts(filter(None, facts)),
            criteria=formats.clean_texts(criteria),
        )


def _version(revision: Revision) -> str:
    claimed = formats.clean_text(revision.claimed_version)
    return revision.version or (f"claims {claimed}" if claimed else "")


def _criterion(value: object) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    name, words = (str(value.get(key) or "") for key in ("name", "description"))
    low, high = value.get("min_score", 0), value.get("max_score", 1)
    weight = value.get("weight", 1)
    weighs = f", weight {weight}" if weight != 1 else ""
    return f"{name}: {words} ({low} to {high}{weighs})"


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
