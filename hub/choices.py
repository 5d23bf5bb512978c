"""What a publisher answered in the wizard, as plain values and as the JSON that a draft keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from hub.domain.leaks import Waiver


@dataclass(frozen=True, slots=True)
class Pick:
    """A result to be frozen from exactly these Jobs (by the client's id).

    `reason` says why it replaces a published result of the same configuration and track.
    """

    track: str
    configuration: str
    jobs: tuple[str, ...]
    reason: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.track, self.configuration


@dataclass(frozen=True, slots=True)
class TaskText:
    description: str = ""
    applicability: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Text:
    """What the publisher says of the release. `limitations` are sentences."""

    title: str = ""
    description: str = ""
    purpose: str = ""
    success: str = ""
    limitations: tuple[str, ...] = ()
    license: str = ""
    publisher: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    picks: tuple[Pick, ...] = ()
    withdrawn: Mapping[str, str] = field(default_factory=dict)
    """Reason by id of the published result that is withdrawn."""
    withdraws_release: bool = False
    instructions: bool = False
    findings: bool = False
    text: Text | None = None
    tasks: Mapping[str, TaskText] = field(default_factory=dict)
    """By content hash of the Task."""
    reason: str = ""
    """Why the release changes: needed unless results are only added."""
    waived: Mapping[str, Waiver] = field(default_factory=dict)
    """By id of the finding."""
    redacted: tuple[str, ...] = ()
    """Ids of findings whose text is replaced."""

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Choices:
        """From what `dump` made; keys that are missing get their defaults."""
        values = dict(stored)
        text = values.get("text")
        return cls(
            picks=tuple(Pick(**{**pick, "jobs": tuple(pick["jobs"])}) for pick in values.get("picks", ())),
            withdrawn=values.get("withdrawn", {}),
            withdraws_release=values.get("withdraws_release", False),
            instructions=values.get("instructions", False),
            findings=values.get("findings", False),
            text=Text(**{**text, "limitations": tuple(text["limitations"])}) if text else None,
            tasks={digest: TaskText(**task) for digest, task in values.get("tasks", {}).items()},
            reason=values.get("reason", ""),
            waived={name: Waiver(**waiver) for name, waiver in values.get("waived", {}).items()},
            redacted=tuple(values.get("redacted", ())),
        )

    def dump(self) -> dict[str, Any]:
        return asdict(self)
