"""What commands about one leaderboard share."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.http import Http404

from benchmarks.selectors import find_benchmark, find_revision
from jobs.board import Board, load_board
from jobs.state import BoardState
from plural_site.accounts.models import Project


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
                f"There is no project {slug}. Make one: manage.py create_project {slug} --owner EMAIL"
            )
        return found
    several = list(projects[:2])
    if not several:
        raise CommandError("There is no project yet. Make one: manage.py create_project SLUG --owner EMAIL")
    if len(several) > 1:
        raise CommandError("There are several projects: name one with --project SLUG.")
    return several[0]


def board_of(options: dict[str, Any]) -> Board:
    slug, _, selector = options["benchmark"].partition("@")
    project = find_project(options["project"])
    try:
        revision = find_revision(find_benchmark(project, slug), selector)
        state = BoardState(track=options["track"], job=tuple(options["job"]))
        return load_board(project, revision, state)
    except Http404 as error:
        raise CommandError(str(error)) from error
