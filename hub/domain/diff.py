"""What differs between two manifests: public things in words, each with its old and new values and a reason.

Every value that differs is in some part of some change, so there are no changes exactly where the bytes are
the same. Of a thing that comes or goes, what is not set or empty is not listed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from hub.domain import codec
from hub.domain.diff_reasons import reason_for
from hub.domain.manifest import Manifest
from hub.domain.stored import manifest_bytes, parse_manifest
from hub.domain.words import NOTHING, result_names, task_names, value_text

Sign = Literal["added", "removed", "changed"]
Json = Mapping[str, Any]
_ABSENT: Any = object()

SINGLE: Mapping[str, str] = {
    "schema_version": "Schema",
    "publication": "Publication",
    "publisher": "Publisher",
    "release": "Release",
    "status": "Status",
    "about": "Text",
    "disclosure": "Disclosure",
    "scoring": "Scoring rules",
    "default_view": "Default view",
    "boundary": "Boundary",
}
MANY: Mapping[str, str] = {
    "tracks": "tracks",
    "categories": "categories",
    "tasks": "Tasks",
    "configurations": "Agent configurations",
    "results": "results",
}
ORDER = (
    "status",
    "publication",
    "publisher",
    "release",
    "about",
    "disclosure",
    "scoring",
    "default_view",
    "tracks",
    "categories",
    "tasks",
    "configurations",
    "results",
    "boundary",
    "schema_version",
)
_KEYS = ("task_id", "id", "name", "model")
"""What tells items of a list apart, the first that they have; then how often it stood there before."""
_FREE = (("applicability",), ("settings",))
"""Whose values may be any JSON."""
_WORDS = {
    "about": "text",
    "account_id": "account id",
    "evaluated_from": "evaluated from",
    "evaluation_ids": "Jobs",
    "harness": "Harness",
    "license": "licence",
    "max_cost_usd": "max cost, USD",
    "max_seconds": "max seconds",
    "path": "address",
    "task_hashes": "content of the Tasks",
    "task_weights": "Task weights",
    "tasks": "Tasks",
    "tasks_covered": "Tasks covered",
    "tasks_total": "Tasks total",
    "uncertainty": "interval",
    "verifiers": "Verifiers",
}
_ITEMS = {
    "tasks": "Task",
    "categories": "category",
    "verifiers": "Verifier",
    "models_used": "model that answered",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A value, or a small group of values of one kind, that differs.

    `label` says which in words, `field` by a dotted path within the thing. `old` is None where there was
    nothing, `new` where there is nothing any more.
    """

    label: str
    field: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One public thing that comes, goes or changes, with all that differs in it.

    `section` is the manifest's field, `key` the id within it ('' where there is one such thing only).
    """

    sign: Sign
    section: str
    key: str
    what: str
    reason: str
    parts: tuple[Part, ...]

    @property
    def lines(self) -> tuple[tuple[str, Part], ...]:
        """Each part under its full name, e.g. "Result `steady` on controlled@1.0.0: score"."""
        return tuple((f"{self.what}: {part.label}" if part.label else self.what, part) for part in self.parts)


def diff(old: Manifest | None, new: Manifest) -> list[Change]:
    """Changes from `old`, None where nothing was public, in the order in which they are read."""
    before, after = _canonical(old) if old else None, _canonical(new)
    names = _Names(old, new)
    changes = []
    for section in ORDER:
        found = _single if section in SINGLE else _many
        for sign, key, what, parts in found(section, before, after, names):
            reason = reason_for(section, key, old, new, [part.field for part in parts])
            changes.append(Change(sign, section, key, what, reason, parts))
    return changes


class _Names:
    """Names of parts, of the newer manifest first."""

    def __init__(self, old: Manifest | None, new: Manifest) -> None:
        both = [manifest for manifest in (old, new) if manifest is not None]
        self.tasks = {key: name for manifest in both for key, name in task_names(manifest).items()}
        self.results = {key: name for manifest in both for key, name in result_names(manifest).items()}

    def thing(self, section: str, key: str, item: Json) -> str:
        if section == "results":
            return self.results[key]
        if section == "configurations":
            return f"Agent configuration `{item['label']}`"
        if section == "tracks":
            return f"Track {key}@{item['version']}"
        return f"{'Task' if section == 'tasks' else 'Category'} `{item['name']}`"


def _canonical(manifest: Manifest) -> dict[str, Any]:
    """As JSON values in the schema's order of fields, set-like lists in their canonical order."""
    return codec.plain(parse_manifest(manifest_bytes(manifest)))


def _single(
    section: str, before: Json | None, after: Json, names: _Names
) -> Iterator[tuple[Sign, str, str, tuple[Part, ...]]]:
    old = _ABSENT if before is None else before[section]
    parts = _all_parts(old, after[section], names.tasks)
    if parts:
        yield "added" if before is None else "changed", "", SINGLE[section], parts


def _many(
    section: str, before: Json | None, after: Json, names: _Names
) -> Iterator[tuple[Sign, str, str, tuple[Part, ...]]]:
    old, new = _keyed(before[section] if before else []), _keyed(after[section])
    for key in dict.fromkeys((*new, *old)):
        here, there = old.get(key, _ABSENT), new.get(key, _ABSENT)
        sign: Sign = "added" if here is _ABSENT else "removed" if there is _ABSENT else "changed"
        parts = _all_parts(here, there, names.tasks)
        if parts:
            yield sign, key[0], names.thing(section, key[0], here if there is _ABSENT else there), parts
    kept = [key for key in old if key in new]
    if kept != [key for key in new if key in old]:
        order = Part("", "", *(", ".join(key[0] for key in each) for each in (old, new)))
        yield "changed", "", f"Order of the {MANY[section]}", (order,)


def _all_parts(old: Any, new: Any, tasks: Mapping[str, str]) -> tuple[Part, ...]:
    if old is _ABSENT or new is _ABSENT:
        old, new = _filled(old), _filled(new)
    return tuple(_parts(old, new, (), tasks))


def _filled(value: Any) -> Any:
    """Without fields that are not set or empty."""
    if not isinstance(value, dict):
        return value
    inner = {name: _filled(item) for name, item in value.items()}
    return {name: item for name, item in inner.items() if item not in (None, "", [], {})}


def _parts(old: Any, new: Any, path: tuple[str, ...], tasks: Mapping[str, str]) -> Iterator[Part]:
    if _same(old, new):
        return
    known = [value for value in (old, new) if value is not _ABSENT]
    nested = len(known) == len((old, new)) or bool(known[0])
    if nested and all(isinstance(value, dict) for value in known):
        names = dict.fromkeys(name for value in reversed(known) for name in value)
        for name in names:
            yield from _parts(_below(old, name), _below(new, name), (*path, name), tasks)
    elif nested and path[:1] not in _FREE and all(_is_of_objects(value) for value in known):
        yield from _items(old, new, path, tasks)
    else:
        yield _part(_label(path, tasks), path, old, new, tasks)


def _items(old: Any, new: Any, path: tuple[str, ...], tasks: Mapping[str, str]) -> Iterator[Part]:
    """One part for each item that differs, with those of its values that do."""
    here, there = (_keyed([] if value is _ABSENT else value) for value in (old, new))
    for key in dict.fromkeys((*there, *here)):
        was, now = here.get(key, _ABSENT), there.get(key, _ABSENT)
        if not _same(was, now):
            inner = [part for part in _all_parts(was, now, tasks) if part.field not in _KEYS]
            yield Part(
                f"{_item_word(path[-1], key[1])} `{tasks.get(key[0], key[0])}`",
                ".".join((*path, *map(str, key))),
                None if was is _ABSENT else _joined((part.label, part.old) for part in inner),
                None if now is _ABSENT else _joined((part.label, part.new) for part in inner),
            )
    kept = [key for key in here if key in there]
    if kept != [key for key in there if key in here]:
        orders = (", ".join(tasks.get(key[0], key[0]) for key in each) for each in (here, there))
        yield Part(f"order of {_label(path, tasks)}", ".".join(path), *orders)


def _item_word(name: str, before: int) -> str:
    if name == "examples":  # of each Task a success, then a failure
        return f"example of a {'failure' if before else 'success'} at Task"
    return _ITEMS.get(name, name)


def _joined(values: Iterable[tuple[str, str | None]]) -> str:
    return ", ".join(f"{label} {NOTHING if text is None else text}" for label, text in values) or "there"


def _part(label: str, path: tuple[str, ...], old: Any, new: Any, tasks: Mapping[str, str]) -> Part:
    texts = [None if value is _ABSENT else _text(path, value, tasks) for value in (old, new)]
    if texts[0] == texts[1]:
        texts = [json.dumps(value, ensure_ascii=False, sort_keys=True) for value in (old, new)]
    return Part(label, ".".join(path), *texts)


def _text(path: tuple[str, ...], value: Any, tasks: Mapping[str, str]) -> str:
    if path[-1:] == ("tasks",) and isinstance(value, list):
        return ", ".join(tasks.get(item, str(item)) for item in value) or NOTHING
    return value_text(value)


def _label(path: Sequence[str], tasks: Mapping[str, str]) -> str:
    return " ".join(_WORDS.get(name) or tasks.get(name) or name.replace("_", " ") for name in path)


def _keyed(items: Sequence[Json]) -> dict[tuple[str, int], Json]:
    """Items by what tells them apart, and how often that stood there before."""
    seen: dict[str, count[int]] = {}
    keyed = {}
    for item in items:
        name = next(str(item[key]) for key in _KEYS if key in item)
        keyed[name, next(seen.setdefault(name, count()))] = item
    return keyed


def _is_of_objects(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and any(key in item for key in _KEYS) for item in value
    )


def _below(value: Any, name: str) -> Any:
    return value.get(name, _ABSENT) if isinstance(value, dict) else _ABSENT


def _same(one: Any, other: Any) -> bool:
    """Whether the canonical bytes are the same: 1 and 1.0 are not."""
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
