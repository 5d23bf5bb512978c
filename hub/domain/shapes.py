"""What the type hints of a dataclass ask for, worked out once: hints are slow to look at."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Kind = Literal["text", "truth", "whole", "number", "choice", "free", "object", "list", "row", "map"]
_SCALARS: Mapping[Any, tuple[Kind, str]] = {
    str: ("text", "text"),
    bool: ("truth", "true or false"),
    int: ("whole", "a whole number"),
    float: ("number", "a number"),
    Any: ("free", "any JSON value"),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """`inner` are the shapes of a row's items, or of what a list or a map holds; `cls` is an object's.

    `wanted` says in words what a value must be.
    """

    kind: Kind
    wanted: str
    optional: bool = False
    inner: tuple[Shape, ...] = ()
    choices: tuple[str, ...] = ()
    cls: Any = None


@cache
def fields_of(cls: Any) -> Mapping[str, Shape]:
    """Fields of a dataclass in their order."""
    hints = get_type_hints(cls)
    return {field.name: shape_of(hints[field.name]) for field in fields(cls)}


@cache
def shape_of(hint: Any) -> Shape:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (bare,) = (option for option in inner if option is not type(None))
        shape = shape_of(bare)
        return Shape(shape.kind, shape.wanted, True, shape.inner, shape.choices, shape.cls)
    if hint in _SCALARS:
        kind, wanted = _SCALARS[hint]
        return Shape(kind, wanted, optional=kind == "free")
    if is_dataclass(hint):
        return Shape("object", "an object", cls=hint)
    if origin is Literal:
        return Shape("choice", " or ".join(map(repr, inner)), choices=inner)
    return _holder(origin, inner)


def _holder(origin: Any, inner: tuple[Any, ...]) -> Shape:
    if origin is not tuple:
        return Shape("map", "an object", inner=(shape_of(inner[1]),))
    if inner[-1] is Ellipsis:
        return Shape("list", "a list", inner=(shape_of(inner[0]),))
    return Shape("row", "a list", inner=tuple(map(shape_of, inner)))
