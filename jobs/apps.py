from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from jobs import search_tables

if TYPE_CHECKING:
    from jobs.integrity import Check


class JobsConfig(AppConfig):
    name = "jobs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from jobs.integrity import add_check  # noqa: PLC0415
        from jobs.removal import WORDS, JobsRemoval  # noqa: PLC0415 - models load after this module
        from plural_site.accounts.audit_words import add_words  # noqa: PLC0415
        from plural_site.accounts.removal import register  # noqa: PLC0415

        for name, (words, check) in _integrity_checks().items():
            add_check(name, words, check)
        register(JobsRemoval)
        add_words(WORDS)
        post_migrate.connect(
            search_tables.install_after_migrate, sender=self, dispatch_uid="jobs.search_tables"
        )


def _integrity_checks() -> dict[str, tuple[str, Check]]:
    """By name, with what each counts, in the order in which they run."""
    from jobs import integrity_figures, integrity_files, integrity_rows  # noqa: PLC0415 - models load after

    return {
        "Frozen tables": ("tables", integrity_rows.frozen_tables),
        "Constraints": ("constraints and indexes", integrity_rows.constraints),
        "References": ("kinds of reference", integrity_rows.references),
        "Agreements": ("kinds of agreement", integrity_rows.agreements),
        "Definitions": ("definitions", integrity_rows.definitions),
        "Outcomes": ("Trials", integrity_figures.outcomes),
        "Results": ("executions that count", integrity_files.results),
        "Jobs": ("Jobs", integrity_figures.jobs),
        "Leaderboards": ("leaderboards", integrity_figures.boards),
        "Step indexes": ("step indexes", integrity_figures.step_index),
        "Search": ("texts", integrity_figures.search),
        "Uploads": ("parts", integrity_files.uploads),
        "Stored files": ("stored files", integrity_files.stored_files),
        "Left over": ("files in the store", integrity_files.left_over),
    }
