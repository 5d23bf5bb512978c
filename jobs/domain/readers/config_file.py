"""config.json: what a Job runs. Jobs of one release repeat nearly all of it, so that is read once.

What repeats is the member `source`. Where a file holds the very bytes of one that was read before, a
stand-in takes their place, the rest is read as strictly as ever, and the known value is put in. That gives
what reading the whole would, since one value that is complete in itself was read in place of another.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from benchmarks.domain.types import JsonObject
from jobs.domain.parsed import ImportProblemError
from jobs.domain.readers import strict_json
from jobs.domain.readers.strict_json import Fields

REMEMBERED = 4
"""Sources, the latest."""
LONGEST = 4 * 1024 * 1024
"""Bytes of a file whose source is remembered."""
_KEY = re.compile(rb'"source"[ \t\r\n]*:[ \t\r\n]*')
_LOOKED_AT = 20
"""Members of that name, at any depth."""
_STAND_IN = uuid.uuid4().hex
"""Unknown to whoever wrote a file, so it is where it was put and nowhere else."""


@dataclass(slots=True)
class Repeated:
    """A source that other files may repeat: its value, which nobody changes, and what was made of it."""

    value: JsonObject
    made: list[Any] = field(default_factory=list)


_known: dict[bytes, Repeated] = {}


def read(data: bytes, file: str) -> tuple[Fields, Repeated | None]:
    """The file's members, and its source where that is remembered. Raises `ImportProblemError`."""
    if len(data) > LONGEST:
        return Fields(_members(data, file), file), None
    for at in _places(data):
        for text, known in _known.items():
            if data.startswith(text, at):
                members = _members_around(data, at, at + len(text), file)
                if members.get("source") == _STAND_IN:
                    members["source"] = known.value
                    return Fields(members, file), known
    members = _members(data, file)
    return Fields(members, file), _remember(data, file, members.get("source"))


def _places(data: bytes) -> Iterator[int]:
    """Where a source may begin."""
    return (match.end() for match in islice(_KEY.finditer(data), _LOOKED_AT))


def _members(data: bytes, file: str) -> dict[str, Any]:
    return strict_json.loads(data, file, unique_keys=True, allow_nul=False)


def _members_around(data: bytes, start: int, end: int, file: str) -> dict[str, Any]:
    """Members with the stand-in between; none where that doesn't read, so that the whole file tells why."""
    try:
        return _members(b'%s"%s"%s' % (data[:start], _STAND_IN.encode(), data[end:]), file)
    except ImportProblemError:
        return {}


def _remember(data: bytes, file: str, source: object) -> Repeated | None:
    if type(source) is not dict:
        return None
    for at in _places(data):
        text = data[at:].decode()
        size = len(text[: json.JSONDecoder().raw_decode(text)[1]].encode())
        if _members_around(data, at, at + size, file).get("source") != _STAND_IN:
            continue  # a member of that name further in
        while len(_known) >= REMEMBERED:
            _known.pop(next(iter(_known)), None)
        return _known.setdefault(data[at : at + size], Repeated(source))
    return None
