"""What to write into benchmark.yaml for a first track."""

from __future__ import annotations

WHAT_A_TRACK_IS = (
    "A track is a set of comparison rules. Only results on a track are ranked, because only then is it "
    "known that every Agent ran under the same conditions."
)
TRACK_EXAMPLE = """\
tracks:
  - id: open
    version: 1.0.0
    name: Open systems
    kind: agents          # whole systems; "models" holds everything but the model
    attempts: 1           # of each Task
default_view: agents
"""
