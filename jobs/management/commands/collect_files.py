from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jobs.file_holds import end_dead, files_are_held
from jobs.import_lock import remove_leftovers
from jobs.models import ImportRun
from jobs.removal import remove_files, remove_unused_rows
from plural_site.db import blobs
from plural_site.db.frozen import ThawError


class Command(BaseCommand):
    help = "Removes stored files that nothing names any more. Not while an import or a backup runs."

    def handle(self, *args: Any, **options: Any) -> None:
        remove_leftovers()
        if ImportRun.objects.filter(status=ImportRun.Status.RUNNING).exists():
            raise CommandError("An import is running. Try again when it has ended.")
        end_dead()
        if files_are_held():
            raise CommandError("A backup or a restore is running. Try again when it has ended.")
        try:
            remove_unused_rows()
        except ThawError as error:
            self.stderr.write(str(error))
        self.stdout.write(f"Removed {remove_files(list(blobs.stored()))} files.")
