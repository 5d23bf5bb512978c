"""YAML from outside, read into plain JSON values: no surprises, bounded work, the line of every field."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from benchmarks.domain.types import DomainError

MAX_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_VALUES = 100_000
"""Values of one file, those behind aliases counted each time they are used."""
TAG = "tag:yaml.org,2002:"
MERGE = f"{TAG}merge"
COLLECTION_TAGS = frozenset({f"{TAG}map", f"{TAG}seq"})
NUMBER_TAGS = frozenset({f"{TAG}int", f"{TAG}float"})
SCALAR_TAGS = NUMBER_TAGS | {f"{TAG}{name}" for name in ("str", "bool", "null")}
MAX_NUMBER = 400
"""Characters of a number: YAML's own notations make longer ones costly to read and to write again."""
LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlError(DomainError):
    """A file that can't be taken.

    `line` counts from 1 and is None where it isn't known; `field` is a dotted path.
    """

    def __init__(self, file: str, line: int | None, message: str, field: str = "") -> None:
        where = f"{file}, line {line}" if line else file
        super().__init__(f"{where}: {field} {message}" if field else f"{where}: {message}")
        self.file = file
        self.line = line
        self.message = message
        self.field = field


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """`value` is JSON data; `lines` gives the line of each dotted path (`tracks.0.version`)."""

    value: Any
    lines: Mapping[str, int]

    def line(self, path: str) -> int | None:
        """The line of a field, or of the part that it is missing in."""
        while path and path not in self.lines:
            path = path.rpartition(".")[0]
        return self.lines.get(path) if path else None


def parse_yaml(data: bytes, file: str) -> YamlDocument:
    """Read one YAML document. `file` is what messages call it. Raises YamlError.

    Refused: text that isn't UTF-8, more than MAX_BYTES, MAX_DEPTH or MAX_VALUES, keys used twice or that
    aren't text, dates, other types than JSON has, NaN and infinities, NUL and lone surrogates. An empty
    file is None.
    """
    if len(data) > MAX_BYTES:
        raise YamlError(file, None, f"is larger than {MAX_BYTES:,} bytes: move long texts to files beside it")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise YamlError(file, line, "isn't UTF-8 text: save it as UTF-8") from error
    try:
        _check_size(text, file)
        loader = LOADER(text)
        try:
            builder = _Builder(loader, file)
            root = loader.get_single_node()
            value = None if root is None else builder.build(root, "")
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or "can't be parsed"
        where = None if mark is None else mark.line + 1
        raise YamlError(file, where, f"isn't valid YAML: {what.removeprefix('but ')}") from error
    return YamlDocument(value, builder.lines)


@dataclass(slots=True)
class _Open:
    """A collection whose end hasn't come yet: how many values it holds so far, and how deep they go."""

    anchor: str | None
    values: int = 1
    height: int = 1


def _check_size(text: str, file: str) -> None:
    """Refuse what would be too much to build, by the parser's events alone, and tags that YAML adds."""
    anchors: dict[str, tuple[int, int]] = {}
    stack = [_Open(None)]
    for event in yaml.parse(text, Loader=LOADER):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent)):
            _check_tag(event, file, line)
        if isinstance(event, yaml.CollectionStartEvent):
            stack.append(_Open(event.anchor))
            _check_bounds(stack, 0, 0, file, line)
        elif isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent, yaml.CollectionEndEvent)):
            values, height = _finished(event, stack, anchors, file, line)
            _check_bounds(stack, values, height, file, line)
            stack[-1].values += values
            stack[-1].height = max(stack[-1].height, height + 1)


def _finished(
    event: yaml.Event, stack: list[_Open], anchors: dict[str, tuple[int, int]], file: str, line: int
) -> tuple[int, int]:
    """(values, height) of a value that is complete with this event."""
    if isinstance(event, yaml.AliasEvent):
        if event.anchor not in anchors:
            raise YamlError(file, line, f"uses *{event.anchor} before &{event.anchor} is complete")
        return anchors[event.anchor]
    if isinstance(event, yaml.ScalarEvent):
        size, anchor = (1, 1), event.anchor
    else:
        done = stack.pop()
        size, anchor = (done.values, done.height), done.anchor
    if anchor is not None:
        anchors[anchor] = size
    return size


def _check_bounds(stack: list[_Open], values: int, height: int, file: str, line: int) -> None:
    if len(stack) + height > MAX_DEPTH:
        raise YamlError(file, line, f"is nested deeper than {MAX_DEPTH} levels")
    # What is open adds up: a collection counts in its parent only once it is complete.
    if values + sum(part.values for part in stack) > MAX_VALUES:
        raise YamlError(file, line, f"holds more than {MAX_VALUES:,} values, counting those behind aliases")


def _check_tag(event: yaml.ScalarEvent | yaml.CollectionStartEvent, file: str, line: int) -> None:
    allowed = SCALAR_TAGS if isinstance(event, yaml.ScalarEvent) else COLLECTION_TAGS
    if event.tag is not None and event.tag != "!" and event.tag not in allowed:
        shown = event.tag.replace(TAG, "!!")
        raise YamlError(file, line, f"has the tag {shown}: remove it, only plain values are taken")


@dataclass(slots=True)
class _Builder:
    """Makes values from YAML nodes and notes the line of each path."""

    loader: Any
    file: str
    lines: dict[str, int] = field(default_factory=dict)

    def build(self, node: yaml.Node, path: str) -> Any:
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, _join(path, n)) for n, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: str) -> dict[str, Any]:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == MERGE:
                for source in self._merge_sources(value_node, line):
                    merged = {**self._mapping(source, path), **merged}
                continue
            if key_node.tag not in (f"{TAG}str", f"{TAG}value"):
                raise self._error(line, path, "has a key that isn't text: write it in quotes")
            key = self._text(key_node.value, line, path)
            if key in own:
                raise self._error(line, _join(path, key), "is written twice: remove one of them")
            self.lines[_join(path, key)] = line
            own[key] = self.build(value_node, _join(path, key))
        return {**merged, **own}

    def _merge_sources(self, node: yaml.Node, line: int) -> Iterator[yaml.MappingNode]:
        for source in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if not isinstance(source, yaml.MappingNode):
                raise self._error(line, "", "merges (<<) something that is no mapping")
            yield source

    def _scalar(self, node: yaml.Node, path: str) -> Any:
        line = node.start_mark.line + 1
        if node.tag == f"{TAG}str":
            return self._text(node.value, line, path)
        shown = f"{node.value[:40]!r}"
        if node.tag == f"{TAG}timestamp":
            raise self._error(line, path, f"{shown} is a date in YAML: write it in quotes")
        if node.tag not in SCALAR_TAGS:
            raise self._error(line, path, f"{shown} has a meaning of its own in YAML: write it in quotes")
        if node.tag in NUMBER_TAGS and len(node.value) > MAX_NUMBER:
            raise self._error(line, path, f"is a number of more than {MAX_NUMBER} characters")
        try:
            value = self.loader.construct_object(node)
        except (ValueError, KeyError, IndexError, OverflowError) as error:
            raise self._error(line, path, f"{shown} is no {node.tag.removeprefix(TAG)} value") from error
        if isinstance(value, float) and not math.isfinite(value):
            raise self._error(line, path, f"{shown} isn't a finite number")
        return value

    def _text(self, text: str, line: int, path: str) -> str:
        if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text):
            raise self._error(line, path, "holds a NUL or a lone surrogate: remove that character")
        return text

    def _error(self, line: int, path: str, message: str) -> YamlError:
        return YamlError(self.file, line, message, path)


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)
