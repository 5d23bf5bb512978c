"""Addresses of one Trial and of what belongs to it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse


@dataclass(frozen=True, slots=True)
class TrialLinks:
    """`job` is '' for the copy that the plain address shows, else the Job whose copy is meant."""

    project: str
    trial: str
    job: str = ""

    def page(self, *, execution: int | None = None, files: int = 0) -> str:
        path = reverse("jobs:trial", args=[self.project, self.trial])
        return self._with(path, execution=execution, files=files or None)

    def receipt(self, execution: int | None = None) -> str:
        path = reverse("jobs:trial-receipt", args=[self.project, self.trial])
        return self._with(path, execution=execution)

    def file(self, number: int, path: str, *, download: bool = False) -> str:
        address = reverse("jobs:file", args=[self.project, self.trial, number, path])
        return self._with(address, download=1 if download else None)

    def trajectory(self, execution: int | None = None) -> str:
        return self._with(reverse("jobs:trajectory", args=[self.project, self.trial]), execution=execution)

    def compare(self) -> str:
        path = reverse("jobs:compare-trajectories", args=[self.project])
        return f"{path}?{urlencode({'a': self.trial})}"

    def _with(self, path: str, **query: int | None) -> str:
        given = {name: value for name, value in query.items() if value is not None}
        text = urlencode({"job": self.job, **given} if self.job else given)
        return f"{path}?{text}" if text else path
