"""Reads and checks the environment variables that configure the site.

Every problem is reported at once, by variable, before anything else starts.
"""

from __future__ import annotations

import contextlib
import importlib.util
import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key
from environ import Env

T = TypeVar("T")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"", "0", "false", "no", "off"})
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
SQLITE, POSTGRESQL = "django.db.backends.sqlite3", "django.db.backends.postgresql"
HOST_PATTERN = re.compile(r"\*|\.?[a-z0-9_.-]+|\[[0-9a-f:.]+\]", re.IGNORECASE)
MAIL_PORTS = {"none": 25, "starttls": 587, "tls": 465}
UPLOAD_LIMIT, MOST_UPLOAD = 20 * 10**9, 10**13
DEFAULT_URL = "http://127.0.0.1:8000"

# WAL lets readers work beside the one writer; NORMAL is its safe and fast durability level. With
# recursive triggers the deletion inside INSERT OR REPLACE fires triggers, so frozen rows stay frozen.
SQLITE_SETUP = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA recursive_triggers=ON"


@dataclass(frozen=True, slots=True)
class Mail:
    """`host` is '' where no e-mail is sent; `security` is none, starttls or tls."""

    host: str = ""
    port: int = 0
    user: str = ""
    password: str = ""
    security: str = "starttls"
    sender: str = ""


@dataclass(frozen=True, slots=True)
class OpenId:
    """A provider of OpenID Connect. `name` stands on the button; `new_people` lets unknown people in."""

    issuer: str
    client_id: str
    client_secret: str
    name: str
    new_people: bool


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where files go in an S3-compatible object store. Without keys boto3 looks in its usual places."""

    name: str
    prefix: str
    """Without slashes at its ends; '' for none."""
    endpoint: str | None
    region: str | None
    addressing: str
    """auto, path or virtual: whether the bucket's name stands in the path or in the host."""
    access_key: str | None
    secret_key: str | None


@dataclass(frozen=True, slots=True)
class Environment:
    """`site_url` has no trailing slash; `database` is an entry of Django's DATABASES."""

    debug: bool
    data_dir: Path
    database: dict[str, Any]
    secret_key: str
    allowed_hosts: list[str]
    site_url: str
    mail: Mail
    openid: OpenId | None
    key_rate_limit: int
    ip_rate_limit: int
    proxies: int
    upload_limit: int
    """Bytes of one upload in the browser."""
    bucket: Bucket | None
    """None keeps files in `data_dir`."""
    log_format: str
    """json or text."""
    metrics_token: str
    """'' turns /metrics off."""
    trusted_proxies: tuple[Network, ...]
    """Whose X-Forwarded headers are believed, besides those that come through a Unix socket."""

    @property
    def https(self) -> bool:
        return self.site_url.startswith("https://")


def read(values: Mapping[str, str], base_dir: Path) -> Environment:
    """Settings from `values`. Makes DATA_DIR, and in it a secret key where none is given.

    Raises ImproperlyConfigured with one line per variable that can't be used.
    """
    problems: list[str] = []

    def take(name: str, parse: Callable[[str], T], otherwise: T) -> T:
        try:
            return parse(values.get(name, "").strip())
        except ValueError as error:
            problems.append(f"{name}: {error}")
            return otherwise

    site_url = take("PLURAL_SITE_URL", _site_url, DEFAULT_URL)
    debug = take("DEBUG", _boolean, False)
    hosts: list[str] = take("ALLOWED_HOSTS", _hosts, [])
    data_dir = take("DATA_DIR", lambda value: _data_dir(value, base_dir), base_dir)
    database: dict[str, Any] = take("DATABASE_URL", lambda value: _database(value, data_dir), {})
    mail = _mail(values, take, problems)
    openid = _openid(values, take, problems)
    key_rate_limit = take("KEY_RATE_LIMIT", lambda value: _number(value, 600), 600)
    ip_rate_limit = take("IP_RATE_LIMIT", lambda value: _number(value, 1200), 1200)
    upload_limit = take("UPLOAD_LIMIT", _bytes, UPLOAD_LIMIT)
    is_https = site_url.startswith("https:")
    proxies = take("PROXIES", lambda value: _number(value, int(is_https)), 0)
    trusted_proxies: tuple[Network, ...] = take("TRUSTED_PROXIES", _networks, ())
    bucket = _bucket(values, take, problems)
    otherwise = "json" if is_https else "text"
    log_format = take("LOG_FORMAT", lambda value: _one_of(value, ("json", "text"), otherwise), "")
    metrics_token = take("METRICS_TOKEN", _metrics_token, "")
    if problems:
        raise ImproperlyConfigured("These environment variables can't be used.\n" + "\n".join(problems))
    return Environment(
        debug=debug,
        data_dir=data_dir,
        database=database,
        secret_key=values.get("SECRET_KEY", "").strip() or _stored_secret_key(data_dir / "secret-key"),
        allowed_hosts=hosts or list(dict.fromkeys([*LOOPBACK, _host(site_url)])),
        site_url=site_url,
        mail=mail,
        openid=openid,
        key_rate_limit=key_rate_limit,
        ip_rate_limit=ip_rate_limit,
        proxies=proxies,
        upload_limit=upload_limit,
        bucket=bucket,
        log_format=log_format,
        metrics_token=metrics_token,
        trusted_proxies=trusted_proxies,
    )


def _bucket(values: Mapping[str, str], take: Take, problems: list[str]) -> Bucket | None:
    name, prefix = take("BLOB_STORAGE", _blob_storage, ("", ""))
    endpoint = take("S3_ENDPOINT", _endpoint, "")
    usual = "path" if endpoint else "auto"
    addressing = take("S3_ADDRESSING", lambda value: _one_of(value, ("auto", "path", "virtual"), usual), "")
    keys = {key: values.get(key, "").strip() for key in ("S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY")}
    if not name:
        return None
    missing = [key for key, value in keys.items() if not value]
    if len(missing) == 1:
        problems.append(f"{missing[0]}: needed with the other of {' and '.join(keys)}")
    if any(importlib.util.find_spec(package) is None for package in ("boto3", "storages")):
        problems.append("BLOB_STORAGE: needs the extra `s3`: pip install -c constraints.txt -e '.[s3]'")
    access_key, secret_key = (value or None for value in keys.values())
    region = values.get("S3_REGION", "").strip() or None
    return Bucket(name, prefix, endpoint or None, region, addressing, access_key, secret_key)


def _blob_storage(value: str) -> tuple[str, str]:
    if not value:
        return "", ""
    match = re.fullmatch(r"s3://([a-z0-9][a-z0-9._-]{1,61}[a-z0-9])((?:/[A-Za-z0-9._-]+)*)/?", value)
    if not match or {".", ".."} & set(match[2].split("/")):
        raise ValueError(f"expected s3://BUCKET or s3://BUCKET/PREFIX, not {value!r}")
    return match[1], match[2].strip("/")


def _endpoint(value: str) -> str:
    parts = urlsplit(value)
    if value and not (parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc):
        raise ValueError("expected an address such as https://s3.example.org, without a user or password")
    return value


def _one_of(value: str, known: tuple[str, ...], otherwise: str) -> str:
    if value.lower() in ("", *known):
        return value.lower() or otherwise
    raise ValueError(f"expected {', '.join(known[:-1])} or {known[-1]}, not {value!r}")


def _metrics_token(value: str) -> str:
    # No message repeats it.
    if not value:
        return ""
    if not re.fullmatch(r"[!-~]{16,200}", value):
        raise ValueError("expected 16 to 200 characters without spaces, as `openssl rand -hex 24` prints")
    if importlib.util.find_spec("prometheus_client") is None:
        raise ValueError("needs the extra `metrics`: pip install -c constraints.txt -e '.[metrics]'")
    return value


def _networks(value: str) -> tuple[Network, ...]:
    try:
        given = [part.strip() for part in (value or "127.0.0.0/8, ::1").split(",") if part.strip()]
        return tuple(ipaddress.ip_network(part) for part in given)
    except ValueError as error:
        raise ValueError(f"expected IP addresses or networks like 10.0.0.0/8, with commas: {error}") from None


Take = Callable[[str, Callable[[str], Any], Any], Any]


def _mail(values: Mapping[str, str], take: Take, problems: list[str]) -> Mail:
    security = take("EMAIL_SECURITY", _mail_security, "starttls")
    mail = Mail(
        host=take("EMAIL_HOST", _mail_host, ""),
        port=take("EMAIL_PORT", lambda value: _number(value, MAIL_PORTS[security], 1, 65535), 0),
        user=values.get("EMAIL_USER", "").strip(),
        password=values.get("EMAIL_PASSWORD", "").strip(),
        security=security,
        sender=take("EMAIL_FROM", _mail_address, ""),
    )
    if mail.host and not mail.sender and "EMAIL_FROM:" not in "".join(problems):
        problems.append("EMAIL_FROM: needed with EMAIL_HOST, as the address that e-mail comes from")
    if mail.user and not mail.password:
        problems.append("EMAIL_PASSWORD: needed with EMAIL_USER")
    return mail


def _openid(values: Mapping[str, str], take: Take, problems: list[str]) -> OpenId | None:
    issuer = take("OIDC_ISSUER", _issuer, "")
    new_people = take("OIDC_NEW_PEOPLE", _boolean, False)
    if not issuer:
        return None
    given = {name: values.get(name, "").strip() for name in ("OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET")}
    problems += [f"{name}: needed with OIDC_ISSUER" for name, value in given.items() if not value]
    if importlib.util.find_spec("authlib") is None:
        problems.append("OIDC_ISSUER: needs the extra `oidc`: pip install -c constraints.txt -e '.[oidc]'")
    return OpenId(
        issuer=issuer,
        client_id=given["OIDC_CLIENT_ID"],
        client_secret=given["OIDC_CLIENT_SECRET"],
        name=values.get("OIDC_NAME", "").strip() or urlsplit(issuer).hostname or "",
        new_people=new_people,
    )


def _issuer(value: str) -> str:
    """As the provider's tokens name it: a slash at the end counts."""
    parts = urlsplit(value)
    secure = parts.scheme == "https" or (parts.scheme == "http" and _host(value) in LOOPBACK)
    if value and not (secure and parts.hostname and not parts.query and not parts.fragment):
        raise ValueError(f"expected an https address such as https://login.example.org, not {value!r}")
    return value


def _mail_host(value: str) -> str:
    if value and not HOST_PATTERN.fullmatch(value):
        raise ValueError(f"expected a host name such as smtp.example.org, not {value!r}")
    return value


def _mail_security(value: str) -> str:
    if value.lower() in {"", *MAIL_PORTS}:
        return value.lower() or "starttls"
    raise ValueError(f"expected none, starttls or tls, not {value!r}")


def _mail_address(value: str) -> str:
    if value and not re.fullmatch(r"[^@\s<>]+@[^@\s<>]+|[^<>@\r\n]+ <[^@\s<>]+@[^@\s<>]+>", value):
        raise ValueError(f"expected an e-mail address, perhaps as Name <address>, not {value!r}")
    return value


def _number(value: str, otherwise: int, least: int = 0, most: int = 1_000_000) -> int:
    if not value:
        return otherwise
    if re.fullmatch(r"[0-9]{1,7}", value) and least <= int(value) <= most:
        return int(value)
    raise ValueError(f"expected a whole number from {least} to {most}, not {value!r}")


def _bytes(value: str) -> int:
    if not value:
        return UPLOAD_LIMIT
    if re.fullmatch(r"[0-9]{1,14}", value) and 1 <= int(value) <= MOST_UPLOAD:
        return int(value)
    raise ValueError(f"expected a number of bytes from 1 to {MOST_UPLOAD}, not {value!r}")


def _boolean(value: str) -> bool:
    if value.lower() in TRUE | FALSE:
        return value.lower() in TRUE
    raise ValueError(f"expected true or false, not {value!r}")


def _site_url(value: str) -> str:
    parts = urlsplit(value or DEFAULT_URL)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"expected an address such as https://plural.example.org, not {value!r}")
    if parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError(f"expected scheme, host and port only, not {value!r}")
    _ = parts.port  # raises ValueError for a port that is no number
    return f"{parts.scheme}://{parts.netloc}"


def _host(site_url: str) -> str:
    name = urlsplit(site_url).hostname or ""
    return f"[{name}]" if ":" in name else name


def _hosts(value: str) -> list[str]:
    hosts = [host.strip() for host in value.split(",") if host.strip()]
    for host in hosts:
        if not HOST_PATTERN.fullmatch(host):
            raise ValueError(f"expected host names without scheme or port, separated by commas, not {host!r}")
    return hosts


def _data_dir(value: str, base_dir: Path) -> Path:
    path = base_dir / (Path(value).expanduser() if value else "data")
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"can't make the folder {path}: {error.strerror}") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise ValueError(f"can't write into the folder {path}")
    return path.resolve()


def _database(value: str, data_dir: Path) -> dict[str, Any]:
    # The value may hold a password, so no message repeats it.
    expected = "expected postgres://user:password@host:port/name or sqlite:////path/to/file"
    if not value:
        config: dict[str, Any] = {"ENGINE": SQLITE, "NAME": str(data_dir / "plural-site.sqlite3")}
    elif value.partition(":")[0] in {"sqlite", "postgres", "postgresql"}:
        try:
            config = dict(Env.db_url_config(value))
        except ValueError:
            raise ValueError(f"{expected}, with special characters as %XX") from None
    else:
        raise ValueError(expected)
    if config["ENGINE"] == SQLITE:
        options = {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": SQLITE_SETUP}
        return config | {"OPTIONS": options}
    if not config["NAME"]:
        raise ValueError("the name of the database is missing at the end, as in postgres://host/name")
    return config | {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}


def _stored_secret_key(path: Path) -> str:
    """The key in `path`, made on first use. Processes that start together get the same key."""
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(get_random_secret_key())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    key = path.read_text().strip()
    if not key:
        raise ImproperlyConfigured(f"SECRET_KEY: {path} is empty. Delete the file or set SECRET_KEY.")
    return key
