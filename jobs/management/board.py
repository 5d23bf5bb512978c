"""What commands about one leaderboard share."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.http import Http404

from benchmarks.board.state import BoardState
from benchmarks.board.words import plain_name
from benchmarks.selectors import find_benchmark, find_revision
from jobs.board import Board, load_board, uncounted_jobs
from plural_site.accounts.models import Project
from plural_site.formats import clean_text


def add_board_arguments(parser: CommandParser) -> None:
    parser.add_argument("benchmark", metavar="BENCHMARK[@SELECTOR]", help="e.g. support-triage@1.0.0")
    parser.add_argument("--project", metavar="SLUG", help="needed when there are several projects")
    parser.add_argument("--track", default="", metavar="TRACK", help="id, id@version or none")
    parser.add_argument("--job", action="append", default=[], metavar="JOB", help="count only these Jobs")


def find_project(slug: str | None) -> Project:
    """Raises CommandError where it is missing, or not named and there isn't exactly one."""
    projects = Project.objects.order_by("slug")
    if slug:
        found = projects.filter(slug=slug).first()
        if found is None:
            raise CommandError(
                clean_text(
                    f"There is no project {slug}. Make one: manage.py create_project {slug} --owner EMAIL"
                )
            )
        return found
    several = list(projects[:2])
    if not several:
        raise CommandError("There is no project yet. Make one: manage.py create_project SLUG --owner EMAIL")
    if len(several) > 1:
        raise CommandError("There are several projects: name one with --project SLUG.")
    return several[0]


def board_of(options: dict[str, Any], *, with_tasks: bool = False) -> Board:
    """Raises CommandError where there is no such board, or one of the Jobs named counts nowhere on it."""
    slug, _, selector = options["benchmark"].partition("@")
    project = find_project(options["project"])
    try:
        revision = find_revision(find_benchmark(project, slug), selector)
        state = BoardState(track=options["track"], job=tuple(dict.fromkeys(map(plain_name, options["job"]))))
        board = load_board(project, revision, state, with_tasks=with_tasks)
    except Http404 as error:
        raise CommandError(clean_text(str(error))) from error
    if problems := uncounted_jobs(board):
        raise CommandError(" ".join(problems))
    return board
