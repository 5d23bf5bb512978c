"""What the files of a Job take, counted when it lands and kept with it (derived)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobs.domain.file_kinds import FileKind, kind_of
from jobs.models import Blob, Execution, Job, SupersededTrial

_FETCHED = 500


@dataclass(frozen=True, slots=True)
class Sizes:
    """Number and bytes of a Job's files by kind, still there and `removed` by a retention rule.

    `packs` are the blobs that hold them, with their bytes; `earlier` the bytes in them of executions that
    were replaced when the Job grew.
    """

    kinds: dict[str, tuple[int, int]] = field(default_factory=dict)
    removed: dict[str, tuple[int, int]] = field(default_factory=dict)
    packs: dict[str, int] = field(default_factory=dict)

    @property
    def earlier(self) -> int:
        return max(self.total - sum(size for _, size in self.kinds.values()), 0)

    @property
    def total(self) -> int:
        return sum(self.packs.values())

    @property
    def files(self) -> int:
        return sum(number for number, _ in self.kinds.values())

    def of(self, kinds: Iterable[str]) -> tuple[int, int]:
        """Number and bytes of the files of these kinds that are there."""
        found = [self.kinds.get(kind, (0, 0)) for kind in kinds]
        return sum(number for number, _ in found), sum(size for _, size in found)

    def as_json(self) -> dict[str, Any]:
        pairs = {"kinds": self.kinds, "removed": self.removed}
        return {name: {key: list(pair) for key, pair in part.items()} for name, part in pairs.items()} | {
            "packs": self.packs
        }


def sizes_from(stored: dict[str, Any]) -> Sizes:
    """From `Job.sizes`."""
    pairs = {
        name: {key: (number, size) for key, (number, size) in stored.get(name, {}).items()}
        for name in ("kinds", "removed")
    }
    return Sizes(**pairs, packs=stored.get("packs", {}))


class SizeCount:
    """Adds up files as they come."""

    def __init__(self) -> None:
        self._there: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        self._removed: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])

    def add(self, path: str, role: str, size: int, *, is_of_job: bool = False, removed: str = "") -> None:
        """`is_of_job`: one of the Job itself and not of an execution."""
        kind = FileKind.RECORDS if is_of_job else kind_of(path, role)
        counted = (self._removed if removed else self._there)[kind.value]
        counted[0] += 1
        counted[1] += size

    def sizes(self, packs: Mapping[str, int]) -> Sizes:
        return Sizes(_pairs(self._there), _pairs(self._removed), dict(sorted(packs.items())))


def record_sizes(job: Job, sizes: Sizes | None = None) -> None:
    """Keeps them with the Job, counted from its rows where nobody has counted them."""
    sizes = sizes or measured(job)
    job.size, job.sizes = sizes.total, sizes.as_json()
    job.save(update_fields=["size", "sizes"])


def measured(job: Job) -> Sizes:
    """Counted from the rows of the Job's executions; reads no file."""
    count = SizeCount()
    packs: set[str] = set()
    for pack, files in _file_lists(job):
        packs.add(pack)
        for path, _, _, size, _, role, _, *removed in files:
            count.add(path, role, size, is_of_job=files is job.files, removed="".join(removed))
    for earlier in SupersededTrial.objects.filter(trial__job=job).values_list("packs", flat=True).iterator():
        packs.update(earlier)
    return count.sizes(_sizes_of(sorted(packs)))


def _file_lists(job: Job) -> Iterator[tuple[str, list[list[Any]]]]:
    yield job.pack_id, job.files
    executions = Execution.objects.filter(trial__job=job).order_by()
    yield from executions.values_list("pack_id", "files").iterator(chunk_size=_FETCHED)


def _pairs(counted: Mapping[str, list[int]]) -> dict[str, tuple[int, int]]:
    return {kind: (number, size) for kind, (number, size) in sorted(counted.items())}


def _sizes_of(digests: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for start in range(0, len(digests), _FETCHED):
        rows = Blob.objects.filter(digest__in=digests[start : start + _FETCHED]).order_by("digest")
        found.update(rows.values_list("digest", "size"))
    return found
