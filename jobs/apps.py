from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from jobs import search_tables


class JobsConfig(AppConfig):
    name = "jobs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from jobs.removal import WORDS, JobsRemoval  # noqa: PLC0415 - models load after this module
        from plural_site.accounts.audit_words import add_words  # noqa: PLC0415
        from plural_site.accounts.removal import register  # noqa: PLC0415

        register(JobsRemoval)
        add_words(WORDS)
        post_migrate.connect(
            search_tables.install_after_migrate, sender=self, dispatch_uid="jobs.search_tables"
        )
