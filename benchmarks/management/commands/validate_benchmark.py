"""Say everything that is wrong with a Benchmark's folder, before it is run or pushed."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.domain.folder import BenchmarkFolder, FolderReport, check_folder
from benchmarks.domain.project_files import Problem


class Command(BaseCommand):
    help = "Check the folder of a Benchmark (benchmarks/<slug>/) and the Tasks that it names."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="the folder with benchmark.yaml in it")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        report = check_folder(options["folder"])
        if options["json"]:
            self.stdout.write(json.dumps(_as_json(report), indent=2))
        else:
            self._print(report)
        if report.problems:
            raise CommandError(
                f"{_count(len(report.problems), 'problem')} in {_shown(str(options['folder']))}"
            )

    def _print(self, report: FolderReport) -> None:
        for line in _by_file(report.problems):
            self.stdout.write(line)
        if not report.problems and report.folder is not None:
            self.stdout.write(f"No problems: {_summary(report.folder)}.")
        if report.warnings:
            self.stdout.write("Not wrong, but to know before pushing or publishing:")
            for line in _by_file(report.warnings):
                self.stdout.write(line)


def _by_file(problems: Iterable[Problem]) -> Iterable[str]:
    in_order = {problem.file: position for position, problem in reversed(list(enumerate(problems)))}
    by_file = sorted(problems, key=lambda problem: in_order[problem.file])
    for file, group in groupby(by_file, key=lambda problem: problem.file):
        yield _shown(file)
        for problem in group:
            line = f"line {problem.line}: " if problem.line else ""
            field = f"{problem.field}: " if problem.field else ""
            yield f"  {line}{_shown(field + problem.message)}"


def _shown(text: str) -> str:
    """Text from the files without what a terminal would obey."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _summary(folder: BenchmarkFolder) -> str:
    parts = [_count(len(folder.tasks), "Task")]
    parts.append(_count(len(folder.declared["categories"]), "category", "categories"))
    parts.append(_count(len(folder.declared["tracks"]), "track"))
    return ", ".join(parts)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _as_json(report: FolderReport) -> dict[str, Any]:
    folder = report.folder
    return {
        "valid": not report.problems,
        "benchmark": None
        if folder is None
        else {
            "slug": folder.slug,
            "title": folder.title,
            "version": folder.version,
            "tasks": list(folder.tasks),
        },
        "problems": [asdict(problem) for problem in report.problems],
        "warnings": [asdict(problem) for problem in report.warnings],
    }
