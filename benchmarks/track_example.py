"""What to write into benchmark.yaml for a first track."""

from __future__ import annotations

TRACK_EXAMPLE = """\
tracks:
  - id: open
    version: 1.0.0
    name: Open systems
    kind: agents          # whole systems; "models" holds everything but the model
    attempts: 1           # of each Task
default_view: agents
"""
