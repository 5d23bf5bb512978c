from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from jobs.backup import back_up
from jobs.backup_contents import LEFT_OUT
from jobs.management.progress import Progress
from plural_site.db.backup_file import BackupError
from plural_site.formats import bytes_text, clean_text, count

MOST_LISTED = 20


class Command(BaseCommand):
    help = (
        "Writes the database and all stored files into one file, as they are at this moment, while the site "
        "runs and imports go on; reads it again to be sure. It holds password hashes and everything private."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path", metavar="FILE", type=Path, help="must not exist; FILE.part until it is whole"
        )
        parser.add_argument("--no-verify", action="store_true", help="do not read the file again")

    def handle(self, *args: Any, path: Path, no_verify: bool, **options: Any) -> None:
        before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing half is left
        try:
            made = back_up(path, Progress(self.stdout), verifies=not no_verify)
        except (BackupError, OSError, DatabaseError) as error:
            raise CommandError(clean_text(f"No backup was made. {error}")) from error
        finally:
            signal.signal(signal.SIGTERM, before)
        rows, tables = sum(made.rows.values()), sum(map(bool, made.rows.values()))
        self.stdout.write(
            clean_text(f"{path}: {bytes_text(made.size)}{'' if no_verify else ', read again and whole'}.")
        )
        self.stdout.write(f"{count(rows)} rows of {tables} tables and {count(made.files)} stored files.")
        self.stdout.write(f"Left out: {', '.join(sorted(LEFT_OUT))}.")
        if made.lost:
            for name in made.lost[:MOST_LISTED]:
                self.stderr.write(f"The store has lost or damaged {name}.")
            raise CommandError(
                f"The backup is whole but for {count(len(made.lost))} files that the site itself has no "
                "longer: see manage.py check_integrity."
            )
