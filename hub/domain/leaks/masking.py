"""Showing where a value stands without showing the value."""

from __future__ import annotations

from collections.abc import Iterable

from hub.domain.leaks.types import Span

AROUND = 32
"""Characters of context on each side."""
SHOWN = 4


def masked(value: str) -> str:
    """E.g. "sk-p…(48 characters)". A quarter of a value is shown at most, of a short one nothing."""
    shown = "".join(sign for sign in value[: min(SHOWN, len(value) // 4)] if sign.isprintable())
    return f"{shown}…({len(value)} characters)"


def united(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that overlap or touch as one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def context(text: str, span: Span, hidden: list[Span]) -> str:
    """What stands around `span` of `text`, all of `hidden` (as `united` gives them) masked."""
    start, end = next(((a, b) for a, b in hidden if a <= span[0] < b), span)
    before = _without(text, max(0, start - AROUND), start, hidden)
    after = _without(text, end, min(len(text), end + AROUND), hidden)
    cut = "…" if start > AROUND else ""
    return on_one_line(
        f"{cut}{before}{masked(text[start:end])}{after}{'…' if end + AROUND < len(text) else ''}"
    )


def hide(text: str, hidden: list[Span]) -> str:
    """`text` with all of `hidden` masked."""
    parts: list[str] = []
    done = 0
    for start, end in hidden:
        parts += (text[done:start], masked(text[start:end]))
        done = end
    return "".join((*parts, text[done:]))


def _without(text: str, start: int, end: int, hidden: list[Span]) -> str:
    parts: list[str] = []
    done = start
    for first, last in hidden:
        if last > start and first < end:
            parts += (text[done : max(first, done)], "…")
            done = max(done, last)
    if done < end:
        parts.append(text[done:end])
    return "".join(parts)


def on_one_line(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in " ".join(text.split()))
