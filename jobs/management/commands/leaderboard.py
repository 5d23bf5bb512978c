from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from jobs.exports import leaderboard_csv, leaderboard_json
from jobs.management.board import add_board_arguments, board_of


class Command(BaseCommand):
    help = "Prints a leaderboard, the same figures as its page, unrounded."

    def add_arguments(self, parser: CommandParser) -> None:
        add_board_arguments(parser)
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="as JSON (the default)")
        form.add_argument("--csv", action="store_true", help="as CSV")

    def handle(self, *args: Any, **options: Any) -> None:
        board = board_of(options)
        self.stdout.write(leaderboard_csv(board) if options["csv"] else leaderboard_json(board), ending="")
