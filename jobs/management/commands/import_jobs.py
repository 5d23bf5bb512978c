from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.imports import ImportReport, JobReport, import_path
from plural_site.accounts.models import Project


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
        if not path.exists():
            raise CommandError(f"There is no {path}.")
        project = self._project(options["project"])
        progress = None if options["json"] else self._progress
        report = import_path(project=project, actor=None, path=path, progress=progress)
        if options["json"]:
            self.stdout.write(json.dumps(report.as_dict(), indent=2, ensure_ascii=False))
        else:
            self._summary(project, report)
        if not report.landed:
            raise CommandError(f"Not everything landed: {len(report.problems)} problems.", returncode=1)

    def _project(self, slug: str | None) -> Project:
        projects = Project.objects.order_by("slug")
        if slug:
            found = projects.filter(slug=slug).first()
            if found is None:
                raise CommandError(
                    f"There is no project {slug}. Make one: manage.py create_project {slug} --owner EMAIL"
                )
        else:
            several = list(projects[:2])
            if not several:
                raise CommandError(
                    "There is no project yet. Make one: manage.py create_project SLUG --owner EMAIL"
                )
            if len(several) > 1:
                raise CommandError("There are several projects: name one with --project SLUG.")
            found = several[0]
        if found.archived_at is not None:
            raise CommandError(f"Project {found.slug} is archived and can only be read.")
        return found

    def _progress(self, done: int, total: int, job: JobReport) -> None:
        more = f", {job.trials_added} Trials" if job.trials_added else ""
        more += f", {job.trials_replaced} brought up to date" if job.trials_replaced else ""
        self.stdout.write(f"[{done}/{total}] {job.job_id or job.folder}: {job.result}{more}")
        for note in job.notes:
            self.stdout.write(f"    note: {note.file} {note.field}: {note.message}")

    def _summary(self, project: Project, report: ImportReport) -> None:
        for revision in report.revisions:
            self.stdout.write(f"{revision}: added from its folder")
        for note in report.notes:
            self.stdout.write(f"note: {note.file} {note.field}: {note.message}")
        for problem in report.problems:
            self.stderr.write(
                f"{problem.file}{': ' + problem.field if problem.field else ''}: {problem.message}"
            )
        counts = ", ".join(
            f"{report.count(result)} {result}" for result in ("added", "updated", "unchanged", "refused")
        )
        self.stdout.write(f"Jobs: {counts}. They are in project {project.slug}.")
