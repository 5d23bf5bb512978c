from __future__ import annotations

from django.apps import AppConfig

WORDS = {
    "revision.release": "released revision {number} of the {kind} {slug} as {version}",
    "benchmark.update": "saved revision {number} of the Benchmark {slug}, with newer revisions of {taken}",
}
"""How the audit log tells what is done to revisions."""


class BenchmarksConfig(AppConfig):
    name = "benchmarks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from benchmarks.removal import BenchmarksRemoval  # noqa: PLC0415 - models load after this module
        from plural_site.accounts.audit_words import add_words  # noqa: PLC0415
        from plural_site.accounts.removal import register  # noqa: PLC0415

        register(BenchmarksRemoval)
        add_words(WORDS)
