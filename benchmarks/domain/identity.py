"""Content identity: two canonical forms of JSON, and the digests made from them.

They disagree on purpose. `canonical_jcs` (RFC 8785) writes 1.0 as 1 and orders keys by UTF-16 code
units; revision hashes use it. `canonical_plain` keeps Python's number text, so 1.0 and 1 differ, and
orders keys by code point; track rules, receipts, ids and manifests use it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import rfc8785

from benchmarks.domain.types import DomainError, JsonObject, ResourceKind, Track

T = TypeVar("T")

IDENTITY_SCHEME = 2
LABEL_KEYS = frozenset({"name", "title", "version", "revision"})
SET_KEYS = frozenset(
    {
        "allowed_capabilities",
        "allowed_harness_capabilities",
        "allowed_targets",
        "capabilities",
        "declared",
        "denied",
        "denied_capabilities",
        "enforced",
        "extra_capabilities",
        "granted",
        "granted_harness_capabilities",
        "targets",
    }
)
"""Keys, at any depth, whose arrays are sets: their order is not content."""
_SCALARS = frozenset({str, int, float, bool, type(None)})
_TEXT = json.JSONEncoder(ensure_ascii=False).encode


def sha256_digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def canonical_jcs(value: Any) -> bytes:
    """RFC 8785 text of a JSON value, except that integers of any size are written exactly.

    Raises DomainError for NaN, infinities, lone surrogates, keys that are not text and values that
    are not JSON.
    """
    return _checked(lambda: _jcs(value).encode("utf-8"))


def canonical_plain(value: Any) -> bytes:
    """Sorted keys, compact, unescaped, Python number text, set-like arrays ordered.

    Set-like arrays are ordered by the ASCII-escaped JSON text of their items. Raises DomainError as
    `canonical_jcs` does.
    """
    return _checked(
        lambda: json.dumps(
            _with_ordered_sets(value, _ascii_text),
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
            allow_nan=False,
        ).encode("utf-8")
    )


def plain_hash(value: Any) -> str:
    return sha256_digest(canonical_plain(value))


def hashed_content(content: JsonObject) -> dict[str, Any]:
    """The content of a resource as it is hashed: without top-level labels, set-like arrays ordered."""
    body = {key: item for key, item in content.items() if key not in LABEL_KEYS}
    ordered: dict[str, Any] = _checked(lambda: _with_ordered_sets(body, _jcs))
    return ordered


def revision_hash(kind: ResourceKind, content: JsonObject) -> str:
    """Content hash of one resource. Labels may be in `content`: they are left out at its top level."""
    return sha256_digest(
        canonical_jcs({"content": hashed_content(content), "identity": IDENTITY_SCHEME, "kind": kind})
    )


def rules_hash(track: Track) -> str:
    """Digest over every rule of a track: everything but its name and description."""
    return plain_hash(
        {
            "id": track.id,
            "version": track.version,
            "kind": track.kind,
            "attempts": track.attempts,
            "max_retries": track.max_retries,
            "harnesses": list(track.harnesses),
            "instructions": track.instructions,
            "temperature": _float(track.temperature),
            "max_tokens": track.max_tokens,
            "tools": track.tools,
            "max_turns": track.max_turns,
            "max_seconds": _float(track.max_seconds),
            "max_cost_usd": _float(track.max_cost_usd),
        }
    )


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)


def _jcs(value: Any) -> str:
    if value is None or isinstance(value, (bool, str)):
        return _TEXT(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return rfc8785.dumps(value).decode("ascii")
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_jcs, value))}]"
    if isinstance(value, Mapping):
        keys = sorted(value, key=lambda key: _text_key(key).encode("utf-16-be"))
        return f"{{{','.join(f'{_jcs(key)}:{_jcs(value[key])}' for key in keys)}}}"
    raise DomainError(f"{type(value).__name__} is not JSON data.")


def _with_ordered_sets(value: Any, order: Callable[[Any], str]) -> Any:
    kind = type(value)
    if kind in _SCALARS:  # most values, and isinstance with an abstract class is slow
        return value
    if kind is dict or isinstance(value, Mapping):
        result = {_text_key(key): _with_ordered_sets(item, order) for key, item in value.items()}
        if not SET_KEYS.isdisjoint(result):
            for key in SET_KEYS & result.keys():
                if isinstance(result[key], list):
                    result[key].sort(key=order)
        return result
    if isinstance(value, (list, tuple)):
        return [_with_ordered_sets(item, order) for item in value]
    return value


def _ascii_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)


def _text_key(key: Any) -> str:
    if not isinstance(key, str):
        raise DomainError(f"The key {key!r} is not text: keys of JSON objects must be.")
    return key


def _checked(make: Callable[[], T]) -> T:
    """Run `make`, turning what a serializer may raise into a DomainError."""
    try:
        return make()
    except DomainError:
        raise
    except UnicodeEncodeError as error:
        raise DomainError("Text holds a lone surrogate, which has no UTF-8 form.") from error
    except RecursionError as error:
        raise DomainError("The value is nested too deeply to be hashed.") from error
    except (TypeError, ValueError) as error:
        raise DomainError(f"Not JSON data: {error}.") from error
