"""What keeps the evidence of a Job from being removed although nothing in this app needs it.

An app that builds on Jobs says here which of them it rests on, e.g. because a draft selects them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

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


def held(jobs: Collection[int]) -> dict[int, str]:
    """Of these Jobs those whose evidence has to stay, with the reason."""
    found: dict[int, str] = {}
    for hold in _holds if jobs else ():
        for key, reason in hold(jobs).items():
            found.setdefault(key, reason)
    return found
