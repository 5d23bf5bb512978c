from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "plural_site.accounts"
    label = "accounts"
