"""Giving a revision a version: what a version may be, what a release needs, and which version comes next."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.domain.project_files import TEMPLATE_MARK
from benchmarks.domain.types import DomainError

VERSION = re.compile(r"^(?![0-9]+\Z)[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}\Z")
FIRST_VERSION = "1.0.0"
_SEMANTIC = re.compile(r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}")


class ReleaseRefusedError(DomainError):
    """Every reason why a revision can't have a version.

    `is_conflict` where versions that were given before stand against it, which no change to the input helps.
    """

    def __init__(self, problems: tuple[str, ...], *, is_conflict: bool) -> None:
        super().__init__(" ".join(problems))
        self.problems, self.is_conflict = problems, is_conflict


@dataclass(frozen=True, slots=True)
class Texts:
    """What a Benchmark has to say about itself before it is released."""

    readme: str
    purpose: str
    scoring_description: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A revision that may become a release. `version` is '' while it has none.

    `taken` maps every version of the resource to the number of its revision; `texts` is None for what needs
    none: anything but a Benchmark.
    """

    number: int
    version: str = ""
    taken: Mapping[str, int] = field(default_factory=dict)
    texts: Texts | None = None


def check_release(candidate: Candidate, version: str) -> None:
    """Raises ReleaseRefusedError with every reason. The version that it has already is right."""
    if version and version == candidate.version:
        return
    if conflict := _conflict(candidate, version):
        raise ReleaseRefusedError((conflict,), is_conflict=True)
    wrong = version_problem(version)
    if problems := (*([wrong] if wrong else []), *missing(candidate)):
        raise ReleaseRefusedError(problems, is_conflict=False)


def version_problem(version: str) -> str:
    """What is wrong with a version in itself, '' where nothing is."""
    if not version:
        return f"Give a version, such as {FIRST_VERSION}."
    if VERSION.match(version):
        return ""
    if version.isascii() and version.isdigit():
        return "A version of digits only would read as the number of a revision. Write MAJOR.MINOR.PATCH."
    return (
        "A version starts with a letter or digit, goes on with letters, digits and . + _ - "
        "and has at most 64 characters."
    )


def missing(candidate: Candidate) -> tuple[str, ...]:
    """Each thing that a release needs and that isn't there or still holds a template's mark."""
    texts = candidate.texts
    if texts is None:
        return ()
    parts = (
        ("README.md", texts.readme, "explain what the Benchmark measures"),
        ("purpose in benchmark.yaml", texts.purpose, "say what the Benchmark measures and why"),
        ("scoring.description in benchmark.yaml", texts.scoring_description, "say what a score means"),
    )
    return tuple(filter(None, (_lack(name, text, advice) for name, text, advice in parts)))


def latest_version(taken: Mapping[str, int]) -> str:
    """The highest MAJOR.MINOR.PATCH, '' where there is none."""
    found = [text for text in taken if _SEMANTIC.fullmatch(text)]
    return max(found, key=lambda text: tuple(map(int, text.split("."))), default="")


def suggest_version(taken: Mapping[str, int], *, is_patch: bool = False) -> str:
    """The version after the highest MAJOR.MINOR.PATCH, one up in MINOR or in PATCH; '' where it is too long.

    1.0.0 where there is none.
    """
    latest = latest_version(taken)
    if not latest:
        return FIRST_VERSION
    major, minor, patch = map(int, latest.split("."))
    wanted = f"{major}.{minor}.{patch + 1}" if is_patch else f"{major}.{minor + 1}.0"
    return wanted if len(wanted) <= 64 else ""


def _conflict(candidate: Candidate, version: str) -> str:
    if candidate.version:
        return (
            f"Revision {candidate.number} is released as {candidate.version} already: a revision has one "
            "version at most, for ever."
        )
    number = candidate.taken.get(version)
    if number is None:
        return ""
    free = suggest_version(candidate.taken)
    advice = f"choose another, such as {free}" if free else "choose another"
    return f"Version {version} is revision {number}, for ever: {advice}."


def _lack(name: str, text: str, advice: str) -> str:
    if not text.strip():
        return f"{name} is missing: {advice}."
    if TEMPLATE_MARK in text:
        return f"{name} still holds {TEMPLATE_MARK}, which a template left to be written: {advice}."
    return ""
