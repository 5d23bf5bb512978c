from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.imports import ImportReport, JobReport, import_path
from jobs.management.board import find_project
from plural_site.accounts.models import Project
from plural_site.formats import clean_text, json_text


class Command(BaseCommand):
    help = (
        "Imports Jobs recorded by the plural client: a project folder, its .plural/jobs, one Job folder, "
        "or a .tar.gz or .zip of any of them. Importing again adds nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", metavar="PATH")
        parser.add_argument("--project", metavar="SLUG", help="needed when there are several projects")
        parser.add_argument("--json", action="store_true", help="print the whole report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["path"])
        try:
            missing = not path.exists()
        except OSError as error:
            raise CommandError(clean_text(f"{path} can't be looked at: {error.strerror}")) from error
        if missing:
            raise CommandError(clean_text(f"There is no {path}."))
        project = find_project(options["project"])
        if project.archived_at is not None:
            raise CommandError(f"Project {project.slug} is archived and can only be read.")
        progress = None if options["json"] else self._progress
        report = import_path(project=project, actor=None, path=path, progress=progress, waiting=self._waiting)
        if options["json"]:
            self.stdout.write(json_text(report.as_dict()))
        else:
            self._summary(project, report)
        if not report.landed:
            count = len(report.problems)
            raise CommandError(f"Not everything landed: {count} problem{'s' if count > 1 else ''}.")

    def _waiting(self) -> None:
        self.stderr.write("Another import into this project is running; waiting for it …")

    def _progress(self, done: int, total: int, job: JobReport) -> None:
        more = f", {job.trials_added} Trial{'s' if job.trials_added > 1 else ''}" if job.trials_added else ""
        more += f", {job.trials_replaced} brought up to date" if job.trials_replaced else ""
        self.stdout.write(clean_text(f"[{done}/{total}] {job.job_id or job.folder}: {job.result}{more}"))
        for note in job.notes:
            self.stdout.write(clean_text(f"    note: {note.file} {note.field}: {note.message}"))

    def _summary(self, project: Project, report: ImportReport) -> None:
        for revision in report.revisions:
            self.stdout.write(clean_text(f"{revision}: added from its folder"))
        for note in report.notes:
            self.stdout.write(clean_text(f"note: {note.file} {note.field}: {note.message}"))
        for problem in report.problems:
            where = ": ".join(filter(None, (problem.file, problem.field)))
            self.stderr.write(clean_text(f"{where}: {problem.message}"))
        counts = ", ".join(
            f"{report.count(result)} {result}" for result in ("added", "updated", "unchanged", "refused")
        )
        self.stdout.write(f"Jobs: {counts}. They are in project {project.slug}.")
