"""Evidence, and what is derived from it."""

from jobs import keeping_models  # noqa: F401 - so that Django finds them
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

__all__ = [
    "Blob",
    "Execution",
    "FINITE",
    "ImportRun",
    "Job",
    "JobAgent",
    "LISTED",
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
