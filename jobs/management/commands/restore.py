from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from jobs.backup_contents import Contents, check
from jobs.management.progress import Progress
from jobs.restore import restore
from plural_site.db.backup_file import BackupError
from plural_site.formats import bytes_text, clean_text, count

COUNTED = {
    "accounts.user": "People",
    "accounts.project": "projects",
    "jobs.job": "Jobs",
    "jobs.trial": "Trials",
    "hub.manifest": "published manifests",
}
MOST_LISTED = 20


class Command(BaseCommand):
    help = (
        "Puts a file that `backup` made into an empty database, of either kind, and its files into the "
        "store. Checks the whole file first, and the whole site afterwards."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", metavar="FILE", type=Path)
        parser.add_argument("--check", action="store_true", help="only check the file; change nothing")
        parser.add_argument(
            "--quick", action="store_true", help="do not read every stored file again afterwards"
        )

    def handle(self, *args: Any, path: Path, **options: Any) -> None:
        say = Progress(self.stdout)
        try:
            if options["check"]:
                with path.open("rb") as stream:
                    self._summary(check(stream, say))
                return
            contents = restore(path, say)
        except (BackupError, OSError, DatabaseError) as error:
            what = "" if options["check"] else "Nothing was restored. "
            raise CommandError(clean_text(f"{what}{error}")) from error
        self._summary(contents)
        self.stdout.write("Sessions and the secret key are not in a backup: everybody signs in again.")
        call_command("check_integrity", quick=options["quick"], stdout=self.stdout, stderr=self.stderr)

    def _summary(self, contents: Contents) -> None:
        found = [
            f"{words} {count(contents.rows[label])}"
            for label, words in COUNTED.items()
            if label in contents.rows
        ]
        made = contents.header.made_at.partition(".")[0].replace("T", " ")
        self.stdout.write(clean_text(f"A whole backup of {made} UTC, made on {contents.header.vendor}."))
        self.stdout.write(
            f"{', '.join(found)}; {count(contents.files)} stored files, {bytes_text(contents.size)}."
        )
        for name in sorted(contents.lost)[:MOST_LISTED]:
            self.stderr.write(clean_text(f"The site had lost {name} before the backup was made."))
