"""Properties are checked on machines that do other work too: a slow example is no failure."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("shared-machine", deadline=None, max_examples=60)
settings.load_profile("shared-machine")
