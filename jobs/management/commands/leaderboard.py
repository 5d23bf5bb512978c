from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.exports import leaderboard_csv, leaderboard_json
from jobs.management.board import add_board_arguments, board_of


class Command(BaseCommand):
    help = "Prints a leaderboard, the same figures as its page, unrounded."

    def add_arguments(self, parser: CommandParser) -> None:
        add_board_arguments(parser)
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="as JSON (the default)")
        form.add_argument("--csv", action="store_true", help="as CSV")
        parser.add_argument("--tasks", action="store_true", help="with each entry's Tasks; not with --csv")

    def handle(self, *args: Any, **options: Any) -> None:
        as_csv, with_tasks = options["csv"], options["tasks"]
        if as_csv and with_tasks:
            raise CommandError("A CSV file has no Tasks: leave out --tasks or --csv.")
        board = board_of(options, with_tasks=with_tasks)
        text = leaderboard_csv(board) if as_csv else leaderboard_json(board, with_tasks=with_tasks)
        self.stdout.write(text, ending="")
