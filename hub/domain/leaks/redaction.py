"""Taking found values out of free text."""

from __future__ import annotations

from collections.abc import Iterable

from hub.domain.leaks.types import Finding


def replacement(finding: Finding) -> str:
    """E.g. "[redacted: OpenAI API key]"."""
    return f"[redacted: {finding.label.removeprefix('an ').removeprefix('a ')}]"


def redact(text: str, finding: Finding) -> str:
    """`text`, the string that `finding` is in, with each of its spans replaced."""
    return redact_all(text, (finding,))


def redact_all(text: str, findings: Iterable[Finding]) -> str:
    """`text` with the spans of all `findings` replaced at once; those that overlap become one replacement.

    A finding without spans is of a list or a document as a whole and leaves the text as it is.
    """
    marked = sorted((*span, replacement(finding)) for finding in findings for span in finding.spans)
    parts: list[str] = []
    done = 0
    for start, end, instead in marked:
        if start >= done:
            parts += [text[done:start], instead]
        done = max(done, end)
    parts.append(text[done:])
    return "".join(parts)
