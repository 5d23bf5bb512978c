from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from plural_site import env

SQLITE_OPTIONS = {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": env.SQLITE_SETUP}


def test_empty_environment_gives_sqlite_and_a_key_of_its_own_under_data(tmp_path: Path) -> None:
    found = env.read({}, tmp_path)
    assert found.data_dir == tmp_path / "data"
    assert found.database == {
        "ENGINE": env.SQLITE,
        "NAME": str(tmp_path / "data" / "plural-site.sqlite3"),
        "OPTIONS": SQLITE_OPTIONS,
    }
    assert found.debug is False
    assert found.site_url == "http://127.0.0.1:8000"
    assert found.allowed_hosts == ["localhost", "127.0.0.1", "[::1]"]
    key_file = tmp_path / "data" / "secret-key"
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert len(found.secret_key) >= 50
    assert env.read({"SECRET_KEY": " "}, tmp_path).secret_key == found.secret_key
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["secret-key"]


def test_environment_is_used(tmp_path: Path) -> None:
    found = env.read(
        {
            "DATABASE_URL": "postgresql://ann:p%40ss@db.example.org:5433/site?sslmode=require",
            "DATA_DIR": str(tmp_path / "elsewhere" / "deep"),
            "SECRET_KEY": "given",
            "ALLOWED_HOSTS": "plural.example.org, .example.net,[::1]",
            "PLURAL_SITE_URL": "https://plural.example.org/",
            "DEBUG": "Yes",
        },
        tmp_path,
    )
    assert found.database["ENGINE"] == env.POSTGRESQL
    assert found.database["PASSWORD"] == "p@ss"
    assert found.database["PORT"] == 5433
    assert found.database["OPTIONS"] == {"sslmode": "require"}
    assert found.database["CONN_HEALTH_CHECKS"] is True
    assert found.data_dir == tmp_path / "elsewhere" / "deep"
    assert found.secret_key == "given"
    assert found.allowed_hosts == ["plural.example.org", ".example.net", "[::1]"]
    assert found.site_url == "https://plural.example.org"
    assert found.https
    assert found.debug is True


def test_allowed_hosts_follow_the_site_url(tmp_path: Path) -> None:
    assert env.read({"PLURAL_SITE_URL": "http://[fe80::1]:81"}, tmp_path).allowed_hosts[-1] == "[fe80::1]"
    assert env.read({"PLURAL_SITE_URL": "https://a.example"}, tmp_path).allowed_hosts[-1] == "a.example"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("sqlite:////srv/x.sqlite3", "/srv/x.sqlite3"),
        ("sqlite:///x.sqlite3", "x.sqlite3"),
        ("sqlite://", ":memory:"),
    ],
)
def test_sqlite_url(url: str, name: str, tmp_path: Path) -> None:
    found = env.read({"DATABASE_URL": url}, tmp_path).database
    assert (found["ENGINE"], found["NAME"], found["OPTIONS"]) == (env.SQLITE, name, SQLITE_OPTIONS)


BAD = [
    ("DEBUG", "maybe", "expected true or false, not 'maybe'"),
    ("DATABASE_URL", "mysql://ann:secret@db/site", "expected postgres://"),
    ("DATABASE_URL", "site.sqlite3", "expected postgres://"),
    ("DATABASE_URL", "postgres://ann:secret@db/", "the name of the database is missing"),
    ("DATABASE_URL", "postgres://ann:secret@db:port/site", "expected postgres://"),
    ("ALLOWED_HOSTS", "https://plural.example.org", "expected host names without scheme or port"),
    ("ALLOWED_HOSTS", "plural.example.org:8000", "expected host names without scheme or port"),
    ("PLURAL_SITE_URL", "plural.example.org", "expected an address such as"),
    ("PLURAL_SITE_URL", "ftp://plural.example.org", "expected an address such as"),
    ("PLURAL_SITE_URL", "https://plural.example.org/sub", "expected scheme, host and port only"),
    ("PLURAL_SITE_URL", "https://plural.example.org:x", "Port could not be cast"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_bad_value_is_refused_by_name(name: str, value: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"(?m)^{name}: {message}") as refusal:
        env.read({name: value}, tmp_path)
    assert "secret" not in str(refusal.value)


def test_data_dir_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(ImproperlyConfigured, match="DATA_DIR: can't make the folder"):
        env.read({}, tmp_path)


def test_empty_secret_key_file_is_refused(tmp_path: Path) -> None:
    env.read({}, tmp_path)
    (tmp_path / "data" / "secret-key").write_text("\n")
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY: .* is empty"):
        env.read({}, tmp_path)


def _manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=settings.BASE_DIR,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_problem_is_reported_at_once_at_start(tmp_path: Path) -> None:
    result = _manage("check", DATA_DIR=str(tmp_path), DEBUG="maybe", DATABASE_URL="nonsense")
    assert result.returncode != 0
    assert "\nDEBUG: expected true or false" in result.stderr
    assert "\nDATABASE_URL: expected postgres://" in result.stderr


def test_production_settings_pass_the_deployment_check(tmp_path: Path) -> None:
    result = _manage(
        "check",
        "--deploy",
        "--fail-level=WARNING",
        DATA_DIR=str(tmp_path),
        PLURAL_SITE_URL="https://plural.example.org",
    )
    assert result.returncode == 0, result.stderr
    assert "no issues" in result.stdout


def test_upload_limit_is_a_number_of_bytes(tmp_path: Path) -> None:
    assert env.read({}, tmp_path).upload_limit == 20 * 10**9
    assert env.read({"UPLOAD_LIMIT": "5000000000"}, tmp_path).upload_limit == 5 * 10**9
    for wrong in ("0", "-1", "20GB", "1e9", "99999999999999"):
        with pytest.raises(ImproperlyConfigured, match="UPLOAD_LIMIT: expected a number of bytes"):
            env.read({"UPLOAD_LIMIT": wrong}, tmp_path)
