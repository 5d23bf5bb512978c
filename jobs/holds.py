"""What keeps the evidence of a Job from being removed although nothing in this app needs it.

An app that builds on Jobs says here which of them it rests on, e.g. because a draft selects them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

ASKED = 10_000
"""Jobs that are asked for at once."""
Hold = Callable[[Collection[int]], Mapping[int, str]]
_holds: list[Hold] = []


def add_hold(hold: Hold) -> None:
    """`hold` gets keys of Jobs and says of those that have to stay, in a sentence, why.

    It is asked for many at once, so the number of its queries must not depend on how many they are.
    """
    if hold not in _holds:
        _holds.append(hold)


def has_holds() -> bool:
    return bool(_holds)


def held(jobs: Sequence[int]) -> dict[int, str]:
    """Of these Jobs those whose evidence has to stay, with the reason."""
    found: dict[int, str] = {}
    for start in range(0, len(jobs), ASKED):
        for hold in _holds:
            for key, reason in hold(jobs[start : start + ASKED]).items():
                found.setdefault(key, reason)
    return found
