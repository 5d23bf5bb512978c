"""The gate of publication: what in the bytes about to be published looks like it should not be public.

* `scan` finds, over exactly those bytes, secrets, personal and machine traces, and overlaps with private
  material
* `redact`, `redact_all` take a found value out of a text
* `settle`, `open_findings` say what is left to decide

Pure: no Django, no files, no network.
"""

from hub.domain.leaks.redaction import redact, redact_all, replacement
from hub.domain.leaks.scanning import scan
from hub.domain.leaks.settle import Settlement, Waiver, open_findings, settle
from hub.domain.leaks.types import Finding, PrivateMaterial

__all__ = [
    "Finding",
    "PrivateMaterial",
    "Settlement",
    "Waiver",
    "open_findings",
    "redact",
    "redact_all",
    "replacement",
    "scan",
    "settle",
]
