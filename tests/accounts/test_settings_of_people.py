"""Environment variables about e-mail and bounds."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from plural_site import env


def test_no_email_and_default_bounds_without_variables(tmp_path: Path) -> None:
    found = env.read({}, tmp_path)
    assert found.mail.host == ""
    assert (found.key_rate_limit, found.ip_rate_limit, found.proxies) == (600, 1200, 0)
    assert env.read({"PLURAL_SITE_URL": "https://a.example"}, tmp_path).proxies == 1


@pytest.mark.parametrize(("security", "port"), [("", 587), ("TLS", 465), ("none", 25)])
def test_port_of_email_follows_its_security(security: str, port: int, tmp_path: Path) -> None:
    values = {
        "EMAIL_HOST": "smtp.example.org",
        "EMAIL_FROM": "Plural <plural@example.org>",
        "EMAIL_USER": "u",
        "EMAIL_PASSWORD": "p w",
        "EMAIL_SECURITY": security,
    }
    mail = env.read(values, tmp_path).mail
    assert (mail.port, mail.sender, mail.password) == (port, "Plural <plural@example.org>", "p w")
    assert env.read({**values, "EMAIL_PORT": "2525"}, tmp_path).mail.port == 2525


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"EMAIL_HOST": "smtp.example.org"}, "EMAIL_FROM: needed"),
        ({"EMAIL_HOST": "https://smtp"}, "EMAIL_HOST: expected a host"),
        ({"EMAIL_HOST": "a", "EMAIL_FROM": "x\nBcc: y@z"}, "EMAIL_FROM: expected an e-mail address"),
        ({"EMAIL_USER": "x"}, "EMAIL_PASSWORD: needed"),
        ({"EMAIL_SECURITY": "ssl"}, "EMAIL_SECURITY: expected"),
        ({"EMAIL_PORT": "0"}, "EMAIL_PORT: expected"),
        ({"KEY_RATE_LIMIT": "-1"}, "KEY_RATE_LIMIT: expected"),
        ({"IP_RATE_LIMIT": "many"}, "IP_RATE_LIMIT: expected"),
        ({"PROXIES": "1.5"}, "PROXIES: expected"),
    ],
)
def test_what_can_not_be_used_is_named(values: dict[str, str], problem: str, tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match=problem):
        env.read(values, tmp_path)
