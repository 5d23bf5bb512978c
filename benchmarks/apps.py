from __future__ import annotations

from django.apps import AppConfig


class BenchmarksConfig(AppConfig):
    name = "benchmarks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from benchmarks.removal import BenchmarksRemoval  # noqa: PLC0415 - models load after this module
        from plural_site.accounts.removal import register  # noqa: PLC0415

        register(BenchmarksRemoval)
