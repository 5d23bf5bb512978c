from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.integrity import Check, Finding, Looked, Scope, checks
from jobs.management.progress import Progress
from plural_site.formats import clean_text, count

MOST_SHOWN = 20
"""Findings of one check that are printed."""


class Command(BaseCommand):
    help = (
        "Checks that stored files, rows and figures are whole and agree with each other. Exits 1 when "
        "something is wrong. Writes nothing without --repair, and then derived rows only."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--quick", action="store_true", help="do not read the contents of stored files")
        parser.add_argument("--repair", action="store_true", help="make derived rows anew that are wrong")

    def handle(self, *args: Any, quick: bool, repair: bool, **options: Any) -> None:
        scope = Scope(quick, repair, Progress(self.stdout))
        wrong = mended = notes = 0
        for name, looked, check in checks():
            found = self._run(name, looked, check, scope)
            wrong += sum(not one.is_note and not one.is_mended for one in found)
            mended += sum(one.is_mended for one in found)
            notes += sum(one.is_note for one in found)
        done = f", {count(mended)} mended" if mended else ""
        if wrong:
            raise CommandError(f"{count(wrong)} problem{'s' if wrong > 1 else ''}{done}.")
        self.stdout.write(f"Nothing is wrong{done}." + (" See the notes." if notes else ""))

    def _run(self, name: str, looked: Looked, check: Check, scope: Scope) -> list[Finding]:
        found = []
        for one in check(scope, looked):
            found.append(one)
            if len(found) <= MOST_SHOWN:
                kind = "note: " if one.is_note else "mended: " if one.is_mended else ""
                out = self.stdout if one.is_note or one.is_mended else self.stderr
                out.write(clean_text(f"{name}: {kind}{one.where}: {one.message}"))
        if len(found) > MOST_SHOWN:
            self.stderr.write(f"{name}: and {count(len(found) - MOST_SHOWN)} more")
        bad = sum(not one.is_note for one in found)
        self.stdout.write(f"{name}: {looked}, {f'{count(bad)} wrong' if bad else 'all well'}.")
        return found
