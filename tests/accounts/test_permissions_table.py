"""docs/permissions.md says what the code does."""

from __future__ import annotations

from pathlib import Path

from plural_site.accounts.access import (
    BY_KEY,
    OWNER,
    ROLES_FOR,
    ROLES_FOR_ACCOUNT,
    WHEN_ARCHIVED,
    AccountNeed,
    Need,
)
from plural_site.accounts.models import AccountRole, KeyAbility, ProjectRole

DOCUMENT = Path(__file__).parents[2] / "docs" / "permissions.md"


def table(heading: str) -> list[list[str]]:
    """Rows of the first table under a heading, without its head."""
    section = DOCUMENT.read_text("utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_project_table_is_that_of_the_code() -> None:
    def cell(need: Need, role: str) -> str:
        roles = {ProjectRole.MANAGER, OWNER} if role == OWNER else {role}
        if roles.isdisjoint(ROLES_FOR[need]):
            return "–"
        return "with the right" if need is Need.PUBLISH and role != OWNER else "yes"

    expected = [
        [
            need.value,
            *(cell(need, role) for role in (*ProjectRole.values, OWNER)),
            "yes" if need in WHEN_ARCHIVED else "–",
            ", ".join(ability for ability in KeyAbility.values if ability in BY_KEY.get(need, ())) or "–",
        ]
        for need in Need
    ]
    assert [[row[0], *row[2:]] for row in table("In a project")] == expected


def test_account_table_is_that_of_the_code() -> None:
    roles = (AccountRole.MEMBER, AccountRole.OWNER)
    expected = [
        [need.value, *("yes" if role in ROLES_FOR_ACCOUNT[need] else "–" for role in roles)]
        for need in AccountNeed
    ]
    assert [[row[0], *row[2:]] for row in table("In an account")] == expected
