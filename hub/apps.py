from __future__ import annotations

from django.apps import AppConfig


class HubConfig(AppConfig):
    name = "hub"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from hub.removal import WORDS, HubRemoval, rests_on  # noqa: PLC0415 - models load after this module
        from jobs.holds import add_hold  # noqa: PLC0415
        from plural_site.accounts.audit_words import add_words  # noqa: PLC0415
        from plural_site.accounts.removal import register  # noqa: PLC0415

        register(HubRemoval)
        add_words(WORDS)
        add_hold(rests_on)
