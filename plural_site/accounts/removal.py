"""What goes with a project when it is deleted. Apps that hang rows or files on projects register here.

`accounts` knows none of them, so each gives a `Removal` in its AppConfig.ready. They are asked in the
reverse order of registration: what is built on others goes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from django.db import models

from plural_site.accounts.models import Project


@dataclass(frozen=True, slots=True)
class Counted:
    """E.g. `Counted("Trials", 40)`; `is_bytes` where the number is a size."""

    label: str
    number: int
    is_bytes: bool = False


class Removal:
    """One app's part in the deletion of one project."""

    frozen: ClassVar[tuple[type[models.Model], ...]] = ()
    """Models whose rows `remove_frozen` deletes; the database lets it for that long."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def counts(self) -> list[Counted]:
        """What goes, for the person who is asked to confirm."""
        return []

    def hindrance(self) -> str:
        """Why the project can't be deleted now, as a sentence; '' if it can."""
        return ""

    def remove(self) -> None:
        """Deletes rows that are not frozen. Runs in the transaction of the deletion."""

    def remove_frozen(self) -> None:
        """Deletes frozen rows, short and last: on PostgreSQL their tables can't be written meanwhile."""

    def after_commit(self) -> None:
        """Deletes files that no row names any more."""


_registered: list[type[Removal]] = []


def register(removal: type[Removal]) -> None:
    if removal not in _registered:
        _registered.append(removal)


def removals(project: Project) -> list[Removal]:
    return [removal(project) for removal in reversed(_registered)]
