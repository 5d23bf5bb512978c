"""Terminal codes taken out of text, whole sequences at a time. Pure."""

from __future__ import annotations

import re

_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor moves
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # titles, hyperlinks (OSC 8), device strings
    r"|\x1b[ -/]+[0-~]"  # character sets
    r"|\x1b[0-Z\\^-~]"  # the rest of two characters, among them the end of a string
)
"""What has no end stays, so that nothing can hide the text after it."""


def strip(text: str) -> str:
    """`text` without codes; a line written over by "\\r" becomes a line of its own.

    Control characters that are no part of a sequence stay for whoever makes them visible.
    """
    if "\x1b" in text:
        text = _SEQUENCE.sub("", text)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
