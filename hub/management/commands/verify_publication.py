from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.http import Http404

from benchmarks.domain.types import DomainError
from hub.bundle import LARGEST, Bundle, read_bundle
from hub.domain.stored import digest_of, parse_reference
from hub.domain.verify import Check, verify
from hub.public_read import place_of_manifest, stored_bytes
from hub.public_verify import stored_records
from plural_site.formats import clean_text

CHAIN = "Chain of records"


class Command(BaseCommand):
    help = (
        "Checks a published manifest: digests from the stored bytes, the chain of records, and every score, "
        "interval, coverage and rank computed anew from the per-Task figures. Exits 1, naming what is wrong."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "what",
            help="a reference (plural:benchmark/…), a digest (sha256:…), or a file: bundle.zip or a manifest",
        )
        parser.add_argument("--all", action="store_true", help="print the checks that hold, too")

    def handle(self, *args: Any, **options: Any) -> None:
        what = options["what"]
        checks = self._of_site(what) if what.startswith(("plural:", "sha256:")) else self._of_file(what)
        failed = [check for check in checks if not check.ok]
        for check in checks if options["all"] else failed:
            self.stdout.write(_line(check))
        if failed:
            raise CommandError(f"{len(failed)} of {len(checks)} checks failed.")
        self.stdout.write(f"All {len(checks)} checks hold.")

    def _of_site(self, named: str) -> list[Check]:
        """Of what this site has published. Without a database there is nothing to look in."""
        try:
            reference = named if named.startswith("plural:") else ""
            digest = parse_reference(named).digest if reference else named
            place = place_of_manifest(digest)
            line, _ = place.record(digest)
            records = stored_records(place.pk, line.version)
            return verify(stored_bytes(digest), records, digest=digest, reference=reference)
        except DomainError as error:
            raise CommandError(_text(str(error))) from None
        except Http404:
            raise CommandError(f"Nothing is published under {_text(named)}.") from None

    def _of_file(self, name: str) -> list[Check]:
        bundle = _read(Path(name))
        if bundle.records is not None:
            return verify(bundle.manifest, bundle.records)
        self.stdout.write("The file holds no records, so their chain is not checked.")
        checks = verify(bundle.manifest, (), digest=digest_of(bundle.manifest))
        return [check for check in checks if check.what != CHAIN]


def _read(path: Path) -> Bundle:
    try:
        if path.stat().st_size > LARGEST:
            raise CommandError(f"{path} is larger than {LARGEST} bytes.")
        return read_bundle(path.read_bytes())
    except OSError as error:
        raise CommandError(f"{path} can't be read: {error.strerror}.") from None
    except DomainError as error:
        raise CommandError(f"{path}: {_text(str(error))}") from None


def _line(check: Check) -> str:
    what = _text(check.what).replace("`", "")
    if check.ok:
        return f"holds   {what}: {_text(check.found)}"
    return f"FAILED  {what}: found {_text(check.found)}; expected {_text(check.expected)}"


def _text(text: str) -> str:
    return clean_text(" ".join(text.split()))
