"""What the gate of publication takes and what it says, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Group = Literal["secret", "private_key", "password", "personal", "machine", "private", "unchecked", "public"]
"""Kinds of one sort, for headings.

`secret`: keys, tokens and values that look like one. `private_key`. `password`: in an address or an
assignment. `personal`: e-mail addresses and user names. `machine`: paths. `private`: overlap with private
material. `unchecked`: what could not be read to its end. `public`: private values that are public names too.
"""

PathPart: TypeAlias = str | int
Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PrivateMaterial:
    """Strings of a release that must not become public, by what they are.

    `lists` maps a name in the plural, as a page shows it ("expected answers", "hidden State", "reset
    options", "Verifier definitions", "Agent prompts", "resources"), to its strings: one for each value or
    file, of any length. JSON texts are read as JSON: each string in them counts as a value of its own.
    """

    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """One value, at one place of the published JSON, that should not become public.

    `id` is made of the kind, the place and the value, so that it stays the same when the same bytes are made
    again and changes with the value. `path` leads to the string: keys and positions from the top; it may hold
    the found value itself where that is in a key, and is for programs only. `pointer` (RFC 6901) and `where`
    ("Tasks, item 2, description") have such values masked. `in_key` says that the string is the last key of
    `path` and not the value under it.

    `spans` are the code points [start, end) of the string that hold the value, in order, all of one value
    found several times; empty where only a whole list or document holds it. `encodings` names what had to be
    undone to read it, outermost first. `label` says what it looks like, with an article. `source` is the list
    of `PrivateMaterial` that it stands in, else empty. `blocks` is False for what is only listed.
    """

    id: str
    kind: str
    group: Group
    label: str
    pointer: str
    where: str
    context: str
    blocks: bool = True
    spans: tuple[Span, ...] = ()
    encodings: tuple[str, ...] = ()
    source: str = ""
    in_key: bool = False
    path: tuple[PathPart, ...] = field(default=(), repr=False)
