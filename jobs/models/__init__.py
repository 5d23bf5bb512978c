"""Evidence, and what is derived from it."""

from jobs.models.derived import (
    StepChunk,
    StepIndex,
    StepText,
    Tally,
    TextMark,
)
from jobs.models.evidence import (
    FINITE,
    LISTED,
    Blob,
    Execution,
    ImportRun,
    Job,
    JobAgent,
    SupersededTrial,
    Trial,
    UploadPart,
    Worker,
    finite,
)
from jobs.models.keeping import FileHold, RetentionRule

__all__ = [
    "Blob",
    "Execution",
    "FINITE",
    "FileHold",
    "ImportRun",
    "Job",
    "JobAgent",
    "LISTED",
    "RetentionRule",
    "StepChunk",
    "StepIndex",
    "StepText",
    "SupersededTrial",
    "Tally",
    "TextMark",
    "Trial",
    "UploadPart",
    "Worker",
    "finite",
]
