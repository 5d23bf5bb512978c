"""Addresses of a trajectory and of its parts, and what an address asks for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlencode

from django.http import Http404
from django.urls import reverse

from jobs.models import Execution, StepIndex
from jobs.step_indexes import known_trajectories

Fold = Literal["", "all", "none"]
LONGEST_WORDS = 200
LONGEST_FILE = 200
"""Characters of a file's name in an address; of a longer one its digest stands there."""
_DIGEST = 16
_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class TrajectoryQuery:
    """`execution` None: the one that counts. `file` '': the one that is opened first. Numbers: 0 for none.

    `go` is "next-error" or "previous-error", seen from `step`. `is_patient`: reading a large file may take
    its time.
    """

    job: str = ""
    execution: int | None = None
    file: str = ""
    page: int = 0
    step: int = 0
    words: str = ""
    after: int = 0
    fold: Fold = ""
    go: str = ""
    is_patient: bool = False

    @classmethod
    def parse(cls, query: Mapping[str, str], *, is_patient: bool = False) -> TrajectoryQuery:
        execution = query.get("execution", "")
        fold = query.get("fold", "")
        return cls(
            job=query.get("job", ""),
            execution=number(execution, -1) if execution else None,
            file=query.get("file", ""),
            page=number(query.get("page", "")),
            step=number(query.get("step", "")),
            words=query.get("q", "").strip()[:LONGEST_WORDS],
            after=number(query.get("after", "")),
            fold="all" if fold == "all" else "none" if fold == "none" else "",
            go=query.get("go", ""),
            is_patient=is_patient or query.get("read", "") == "1",
        )


def number(text: str, otherwise: int = 0) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else otherwise


def file_word(path: str) -> str:
    """A trajectory as an address names it."""
    written = quote(path, safe="", errors="surrogatepass")
    if len(written) <= LONGEST_FILE and not path.startswith("~") and "%ED%A" not in written:
        return path
    return "~" + hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]


def find_file(execution: Execution, word: str) -> str:
    """The path that `file_word` stands for. A query for a long one. Raises Http404."""
    if not word.startswith("~"):
        return word
    for file in execution.files:
        if file_word(file[0]) == word:
            return str(file[0])
    for index in StepIndex.objects.filter(execution=execution):
        for path in (index.path, *(path for _, path in known_trajectories(index))):
            if file_word(path) == word:
                return str(path)
    raise Http404("This execution left no such trajectory.")


@dataclass(frozen=True, slots=True)
class TrajectoryLinks:
    """`job`, `execution` and `file` are '', None and '' where the plain address shows them."""

    project: str
    trial: str
    job: str = ""
    execution: int | None = None
    file: str = ""

    def page(
        self,
        *,
        page: int = 0,
        step: int = 0,
        words: str = "",
        after: int = 0,
        fold: str = "",
        go: str = "",
        read: bool = False,
        anchor: str = "",
    ) -> str:
        path = reverse("jobs:trajectory", args=[self.project, self.trial])
        page = page if page > 1 else 0
        more: dict[str, str | int] = {
            "q": words,
            "after": after,
            "fold": fold,
            "go": go,
            "read": 1 if read else 0,
        }
        address = self._with(path, {"page": page, "step": step, **more})
        return f"{address}#{anchor}" if anchor else address

    def permanent(self, number: int, step: int) -> str:
        """To a step of an execution with this number, whichever counts by then."""
        path = reverse("jobs:trajectory", args=[self.project, self.trial])
        return f"{self._with(path, {'execution': number, 'step': step})}#step-{step}"

    def step(self, number: int, *, page: int = 1, fold: str = "") -> str:
        path = reverse("jobs:step", args=[self.project, self.trial, number])
        return self._with(path, {"page": page if page > 1 else 0, "fold": fold})

    def raw(self, number: int) -> str:
        return self._with(reverse("jobs:step-raw", args=[self.project, self.trial, number]))

    def block(self, number: int, block: int) -> str:
        return self._with(reverse("jobs:step-block", args=[self.project, self.trial, number, block]))

    def image(self, number: int, block: int) -> str:
        return self._with(reverse("jobs:step-image", args=[self.project, self.trial, number, block]))

    def stored(self, number: int, path: str, *, download: bool = False) -> str:
        """A file of an execution with this number."""
        address = reverse("jobs:file", args=[self.project, self.trial, number, path])
        query = {"job": self.job} if self.job else {}
        if download:
            query["download"] = "1"
        return f"{address}?{urlencode(query)}" if query else address

    def _with(self, path: str, more: Mapping[str, str | int] | None = None) -> str:
        query = {
            "job": self.job,
            "execution": self.execution,
            "file": file_word(self.file) if self.file else "",
            **(more or {}),
        }
        text = urlencode({key: value for key, value in query.items() if value not in ("", None, 0)})
        if query["execution"] == 0:
            text = f"execution=0&{text}" if text else "execution=0"
        return f"{path}?{text}" if text else path
