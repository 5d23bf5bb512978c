from __future__ import annotations

import math
from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.board.words import plain_name
from jobs.entries import Entry
from jobs.management.board import add_board_arguments, board_of
from jobs.terminal import one_line


class Command(BaseCommand):
    help = (
        "Exits 0 if an Agent's ranked entry is good enough and cheap enough, else 1 with the reason: "
        "a gate for CI. Scores are in the units of the release's score range."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_board_arguments(parser)
        parser.add_argument("--agent", required=True, help="its name, or its configuration's content hash")
        parser.add_argument("--min-score", type=_finite, metavar="X")
        parser.add_argument("--max-cost", type=_finite, metavar="Y", help="USD per attempt")

    def handle(self, *args: Any, **options: Any) -> None:
        board = board_of(options)
        named = options["agent"]
        entries = [
            entry
            for entry in board.entries
            if named in _names(entry) or entry.configuration.content_hash.startswith(_digest(named))
        ]
        if len(entries) != 1:
            known = ", ".join(plain_name(entry.names[0]) for entry in board.entries) or "none"
            what = "No entry is" if not entries else f"{len(entries)} entries are"
            raise CommandError(one_line(f"{what} called {named} on this board (there: {known})."))
        problems = _problems(entries[0], options["min_score"], options["max_cost"])
        if problems:
            raise CommandError(one_line(" ".join(problems)))
        row = entries[0].overall
        self.stdout.write(
            one_line(
                f"{named}: rank {entries[0].rank}, score {row.score!r}, cost {row.cost!r} USD per attempt."
            )
        )


def _names(entry: Entry) -> set[str]:
    """As they were recorded and as they are shown."""
    return {*entry.names, *map(plain_name, entry.names)}


def _problems(entry: Entry, least: float | None, most: float | None) -> list[str]:
    row = entry.overall
    problems = [] if entry.rank is not None else ["It is not ranked.", *row.reasons]
    if least is not None and row.score is None:
        problems.append("It has no score.")
    if least is not None and row.score is not None and row.score < least:
        problems.append(f"Its score {row.score!r} is below {least!r}.")
    if most is not None and row.cost is None:
        problems.append("Its cost is unknown.")
    if most is not None and row.cost is not None and row.cost > most:
        problems.append(f"Its cost {row.cost!r} USD per attempt is above {most!r}.")
    if most is not None and not problems and (row.cost_partial or row.cost_measured < row.cost_attempts):
        part = " and only in part" if row.cost_partial else ""
        problems.append(
            f"Its cost is known for {row.cost_measured} of {row.cost_attempts} attempts{part}, "
            f"so it may be above {most!r}."
        )
    return problems


def _digest(named: str) -> str:
    """A prefix that no hash begins with where `named` is no hash."""
    return named if named.startswith("sha256:") and len(named) >= len("sha256:") + 7 else "\0"


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ArgumentTypeError(f"{text} is not a finite number")
    return value
