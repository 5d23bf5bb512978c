"""Log lines: text for people or a JSON object each for machines, with the request or import they belong to.

Nothing secret gets in: links that sign somebody in are cut, no query, header, body or form is ever written,
and of an error's text only the first line, since databases go on with the row that they refused.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType, TracebackType
from typing import Any

SECRET_PATH = re.compile(r"(/(?:sign-in|password|invitations)/)\S+")
"""Addresses whose end is as good as a password. Everything below is cut, also what no view answers to."""
LONGEST_ERROR, LONGEST_PATH, MOST_ERRORS = 300, 500, 10
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

_facts: ContextVar[Mapping[str, Any]] = ContextVar("facts", default=MappingProxyType({}))


def begin_request(request_id: str) -> None:
    """Forgets what was noted for an earlier request of this thread."""
    _facts.set({"request_id": request_id})


def current_request_id() -> str:
    """`-` outside a request."""
    return str(_facts.get().get("request_id", "-"))


def note(**facts: Any) -> None:
    """Who or what the lines from now on are about, until the request ends."""
    _facts.set({**_facts.get(), **facts})


@contextmanager
def noted(**facts: Any) -> Iterator[None]:
    """As `note`, for a block."""
    token = _facts.set({**_facts.get(), **facts})
    try:
        yield
    finally:
        _facts.reset(token)


def safe_path(path: str) -> str:
    """The path of an address as a log may hold it."""
    return SECRET_PATH.sub(r"\1…", path)[:LONGEST_PATH]


class Facts(logging.Filter):
    """Puts `facts` on a record: those noted, then its own (`extra={"facts": …}`)."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.facts = {**_facts.get(), **getattr(record, "facts", {})}
        return True


def _message(record: logging.LogRecord) -> str:
    """Django's own lines about a request name its path."""
    return SECRET_PATH.sub(r"\1…", record.getMessage())


class JsonLines(logging.Formatter):
    """An object a line: time, level, logger, message, the facts, and for an error `error`, its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[1]:
            line["error"] = error_text(record.exc_info[1])
        return json.dumps(line, default=str)


class TextLines(logging.Formatter):
    """Time, level, logger, facts in brackets and message, then the traceback of an error."""

    def format(self, record: logging.LogRecord) -> str:
        facts = getattr(record, "facts", {})
        about = " ".join(f"{name}={value}" for name, value in facts.items() if name != "request_id")
        bracket = " ".join(filter(None, [str(facts.get("request_id", "-")), about]))
        line = f"{self.formatTime(record)} {record.levelname} {record.name} [{bracket}] {_message(record)}"
        line = CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), line)
        if record.exc_info and record.exc_info[1]:
            line += "\n" + error_text(record.exc_info[1])
        return line


def error_text(error: BaseException) -> str:
    """The traceback of an error and of those that led to it, the first one on top."""
    parts: list[str] = []
    current: BaseException | None = error
    while current is not None and len(parts) < MOST_ERRORS:
        words = (str(current).splitlines() or [""])[0][:LONGEST_ERROR]
        kind = type(current)
        parts.append(f"{_places(current.__traceback__)}{kind.__module__}.{kind.__qualname__}: {words}")
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\n\nwhich led to\n\n".join(reversed(parts))


def _places(places: TracebackType | None) -> str:
    return "".join(traceback.format_tb(places))


def config(log_format: str) -> dict[str, Any]:
    """For `logging.config.dictConfig`; `log_format` is json or text."""
    formatter = JsonLines if log_format == "json" else TextLines
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"facts": {"()": Facts}},
        "formatters": {"line": {"()": formatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "filters": ["facts"], "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {
            # Django's own handlers print with DEBUG on only, or send mail.
            "django": {"handlers": [], "level": "INFO"},
            # The line of every request says as much as those of servers, and less of what is secret.
            "django.server": {"handlers": [], "level": "CRITICAL", "propagate": False},
            "gunicorn.access": {"handlers": [], "level": "CRITICAL", "propagate": False},
        },
    }
