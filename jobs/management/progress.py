"""How commands that take long say how far they are."""

from __future__ import annotations

import time

from django.core.management.base import OutputWrapper

EVERY_SECONDS = 2.0


class Progress:
    """Prints what it is told, but not more often than every two seconds."""

    def __init__(self, out: OutputWrapper) -> None:
        self._out, self._said = out, time.monotonic()

    def __call__(self, text: str) -> None:
        if time.monotonic() - self._said >= EVERY_SECONDS:
            self._said = time.monotonic()
            self._out.write(f"… {text}")
            self._out.flush()
