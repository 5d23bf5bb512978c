from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.import_lock import remove_leftovers
from jobs.management.board import find_project
from jobs.trimming import apply_rule, due, ruled_projects
from plural_site.accounts.models import Machine, Project
from plural_site.formats import bytes_text, clean_text, count


class Command(BaseCommand):
    help = (
        "Takes files from Jobs as the retention rules of projects say, which `work` does by itself as well. "
        "Results, receipts and figures always stay."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="only this project")
        parser.add_argument("--dry-run", action="store_true", help="only say what would go")

    def handle(self, *args: Any, project: str | None, dry_run: bool, **options: Any) -> None:
        remove_leftovers()
        projects = [find_project(project)] if project else ruled_projects()
        refused = 0
        for one in projects:
            plan = due(one)
            if plan is None:
                raise CommandError(f"Project {one.slug} has no retention rule, or it is archived.")
            for job, reason in plan.held.items():
                self.stdout.write(clean_text(f"{one.slug}: {job} keeps its files: {reason}"))
            if dry_run:
                for going in plan.going:
                    files, size = count(going.files), bytes_text(going.freed)
                    self.stdout.write(
                        clean_text(f"{one.slug}: {going.job_id}: {files} files would go, {size}")
                    )
            else:
                refused += self._apply(one)
        if not projects:
            self.stdout.write("No project has a retention rule.")
        if refused:
            raise CommandError(f"{refused} Job{'s' if refused > 1 else ''} could not be dealt with.")

    def _apply(self, project: Project) -> int:
        """Says of how many Jobs files could not be taken."""
        jobs = files = size = refused = 0
        for trimmed in apply_rule(project, Machine.COMMAND):
            if trimmed.problem:
                refused += 1
                self.stderr.write(clean_text(f"{project.slug}: {trimmed.job_id}: {trimmed.problem}"))
                continue
            jobs, files, size = jobs + 1, files + trimmed.files, size + trimmed.size
            words = f"{count(trimmed.files)} files gone, {bytes_text(trimmed.size)}"
            self.stdout.write(clean_text(f"{project.slug}: {trimmed.job_id}: {words}"))
        self.stdout.write(
            f"{project.slug}: {count(files)} files of {count(jobs)} Jobs gone, {bytes_text(size)}."
        )
        return refused
