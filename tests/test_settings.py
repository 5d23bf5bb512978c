from __future__ import annotations

import importlib.util
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
    ("BLOB_STORAGE", "bucket", "expected s3://BUCKET or s3://BUCKET/PREFIX, not 'bucket'"),
    ("BLOB_STORAGE", "s3://", "expected s3://BUCKET"),
    ("BLOB_STORAGE", "s3://Bucket", "expected s3://BUCKET"),
    ("BLOB_STORAGE", "s3://bucket/../other", "expected s3://BUCKET"),
    ("BLOB_STORAGE", "s3://bucket//x", "expected s3://BUCKET"),
    ("S3_ENDPOINT", "s3.example.org", "expected an address such as"),
    ("S3_ENDPOINT", "https://ann:secret@s3.example.org", "expected an address such as"),
    ("S3_ADDRESSING", "dns", "expected auto, path or virtual, not 'dns'"),
    ("LOG_FORMAT", "xml", "expected json or text, not 'xml'"),
    ("METRICS_TOKEN", "secret", "expected 16 to 200 characters without spaces"),
    ("METRICS_TOKEN", "secret of many words", "expected 16 to 200 characters without spaces"),
    ("TRUSTED_PROXIES", "proxy.example.org", "expected IP addresses or networks like 10.0.0.0/8"),
    ("TRUSTED_PROXIES", "10.0.0.1/8", "expected IP addresses or networks like 10.0.0.0/8"),
    ("PROXIES", "yes", "expected a whole number"),
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


def test_files_stay_in_the_data_folder_unless_a_bucket_is_named(tmp_path: Path) -> None:
    assert env.read({"S3_ENDPOINT": "https://s3.example.org"}, tmp_path).bucket is None
    found = env.read({"BLOB_STORAGE": "s3://our-bucket"}, tmp_path).bucket
    assert found == env.Bucket("our-bucket", "", None, None, "auto", None, None)
    given = {
        "BLOB_STORAGE": "s3://our.bucket/plural/site/",
        "S3_ENDPOINT": "http://127.0.0.1:9000",
        "S3_REGION": "eu-north-1",
        "S3_ACCESS_KEY_ID": "who",
        "S3_SECRET_ACCESS_KEY": "what",
    }
    found = env.read(given, tmp_path).bucket
    endpoint = "http://127.0.0.1:9000"
    assert found == env.Bucket("our.bucket", "plural/site", endpoint, "eu-north-1", "path", "who", "what")
    assert env.read(given | {"S3_ADDRESSING": "virtual"}, tmp_path).bucket != found
    with pytest.raises(ImproperlyConfigured, match="S3_SECRET_ACCESS_KEY: needed with the other of S3_ACC"):
        env.read(given | {"S3_SECRET_ACCESS_KEY": ""}, tmp_path)


@pytest.mark.parametrize(
    ("package", "given", "message"),
    [
        ("boto3", {"BLOB_STORAGE": "s3://bucket"}, "BLOB_STORAGE: needs the extra `s3`: pip install"),
        ("storages", {"BLOB_STORAGE": "s3://bucket"}, "BLOB_STORAGE: needs the extra `s3`: pip install"),
        ("prometheus_client", {"METRICS_TOKEN": "m" * 20}, "METRICS_TOKEN: needs the extra `metrics`: pip"),
    ],
)
def test_what_needs_an_extra_says_so_at_start(
    package: str, given: dict[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == package else found(name, *rest)
    )
    assert env.read({}, tmp_path).bucket is None
    with pytest.raises(ImproperlyConfigured, match=f"(?m)^{message}"):
        env.read(given, tmp_path)


def test_logs_are_for_machines_where_others_reach_the_site(tmp_path: Path) -> None:
    assert env.read({}, tmp_path).log_format == "text"
    assert env.read({"PLURAL_SITE_URL": "https://plural.example.org"}, tmp_path).log_format == "json"
    chosen = {"PLURAL_SITE_URL": "https://plural.example.org", "LOG_FORMAT": "Text"}
    assert env.read(chosen, tmp_path).log_format == "text"


def test_only_this_machine_is_a_proxy_unless_others_are_named(tmp_path: Path) -> None:
    assert [str(network) for network in env.read({}, tmp_path).trusted_proxies] == ["127.0.0.0/8", "::1/128"]
    given = {"TRUSTED_PROXIES": "10.0.0.0/8,fd00::/8", "METRICS_TOKEN": "m" * 16}
    found = env.read(given, tmp_path)
    assert [str(network) for network in found.trusted_proxies] == ["10.0.0.0/8", "fd00::/8"]
    assert found.metrics_token == "m" * 16


def test_forwarded_https_is_believed_only_behind_a_proxy(tmp_path: Path) -> None:
    show = "from django.conf import settings as s; "
    show += "print(s.SECURE_PROXY_SSL_HEADER, s.USE_X_FORWARDED_HOST)"
    for proxies, expected in (("1", "('HTTP_X_FORWARDED_PROTO', 'https') False"), ("0", "None False")):
        given = {"PLURAL_SITE_URL": "https://plural.example.org", "PROXIES": proxies}
        result = _manage("shell", "--verbosity=0", "--command", show, DATA_DIR=str(tmp_path), **given)
        assert result.stdout.strip() == expected, result.stderr


def test_web_server_takes_its_settings_from_the_site(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "gunicorn", "-c", "python:plural_site.gunicorn_conf", "--check-config"],
        cwd=settings.BASE_DIR,
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path), "DEBUG": "maybe"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    assert "DEBUG: expected true or false" in result.stderr
