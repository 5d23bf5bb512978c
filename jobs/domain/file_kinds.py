"""What the files that an execution left are for, by their names: a retention rule may remove some kinds."""

from __future__ import annotations

import re
from enum import StrEnum


class FileKind(StrEnum):
    """`RECORDS` are what figures and proofs are made of: results, receipts, reviews, lists of artifacts."""

    RECORDS = "records"
    TRAJECTORIES = "trajectories"
    LOGS = "logs"
    ARTIFACTS = "artifacts"


REMOVABLE = (FileKind.TRAJECTORIES, FileKind.ARTIFACTS, FileKind.LOGS)
TRAJECTORY_FILES = ("artifacts/atif-trajectory.json", "artifacts/trajectory.json", "artifacts/episode.jsonl")
MANIFEST = "artifacts/manifest.json"
_TRAJECTORY_ROLES = frozenset({"trajectory", "episode"})
_LIKE_A_TRAJECTORY = re.compile(r"[^/]*trajectory[^/]*\.(?:json|jsonl|ndjson)", re.IGNORECASE)


def kind_of(path: str, role: str) -> FileKind:
    """`path` as in `Execution.files`. What isn't known to be anything else is a record, which stays."""
    if path == MANIFEST or path.startswith("reviews/"):
        return FileKind.RECORDS
    if path.startswith("logs/"):
        return FileKind.LOGS
    if role in _TRAJECTORY_ROLES or path in TRAJECTORY_FILES or is_like_a_trajectory(path):
        return FileKind.TRAJECTORIES
    return FileKind.ARTIFACTS if path.startswith("artifacts/") else FileKind.RECORDS


def is_like_a_trajectory(path: str) -> bool:
    """Whether a file is called so that it may be one."""
    return _LIKE_A_TRAJECTORY.fullmatch(path.rpartition("/")[2]) is not None
