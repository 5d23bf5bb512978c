from __future__ import annotations

from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_migrate

from plural_site.db import frozen


class DbConfig(AppConfig):
    name = "plural_site.db"
    label = "site_db"

    def ready(self) -> None:
        post_migrate.connect(frozen.install_after_migrate, dispatch_uid="plural_site.db.frozen")
        checks.register(frozen.check_triggers, checks.Tags.database)
