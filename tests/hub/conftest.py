"""A publication with a past, as rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from hub.domain.assemble import assemble, revise
from hub.domain.facts import StatusChange
from hub.domain.manifest import Manifest as ManifestValue
from hub.models import ManifestRecord
from hub.public_history import changes_between
from hub.public_read import forget
from tests.domain.hub.made import AT, MADE, agent, digest, facts
from tests.frozen_rows import frozen

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _nothing_is_cached(settings: Any) -> Iterator[None]:
    """Rows of a test are gone afterwards, though their digests may come again."""
    settings.IP_RATE_LIMIT = 0
    forget_all()
    yield
    forget_all()


def forget_all() -> None:
    """What this process has read and compared."""
    forget()
    changes_between.cache_clear()


@dataclass(frozen=True)
class Story:
    """Release 1.0.0: published, a result withdrawn, another corrected. Then release 1.1.0."""

    first: ManifestRecord
    withdrawn: ManifestRecord
    corrected: ManifestRecord
    next_release: ManifestRecord
    last: ManifestValue
    """What `next_release` froze."""


def two_results() -> ManifestValue:
    return assemble(
        **{
            **MADE,
            "results": [
                facts("res_1", (1.0, 0.25)),
                facts("res_2", (0.5, 1.0), agent=agent("other"), provenance="self_reported"),
            ],
        }
    )


def release(version: str) -> ManifestValue:
    changed = replace(MADE["release"], version=version, content_hash=digest(version), id=f"rev_{version}")
    results = [facts(f"res_{version}")]
    return assemble(**{**MADE, "release": changed, "results": results, "published_at": AT + 5 * DAY})


@pytest.fixture
def story(db: None) -> Story:
    one = two_results()
    first = frozen(one, at=AT)
    two = revise(one, published_at=AT + DAY, changes=[StatusChange("res_2", True, "It ran on old Tasks.")])
    withdrawn = frozen(two, "withdraw", "It ran on old Tasks.", result="res_2", at=AT + DAY)
    three = assemble(
        **{
            **MADE,
            "results": [facts("res_3", (0.75, 0.25), supersedes="res_1", reason="The cost was wrong.")],
            "published_at": AT + 2 * DAY,
            "previous": two,
        }
    )
    corrected = frozen(three, "correct", "The cost was wrong.", result="res_1", at=AT + 2 * DAY)
    last = release("1.1.0")
    return Story(first, withdrawn, corrected, frozen(last, at=AT + 5 * DAY), last)


def withdraw_release(manifest: ManifestValue, reason: str = "An answer leaked.") -> ManifestRecord:
    when = AT + 9 * DAY
    return frozen(
        revise(manifest, published_at=when, status="withdrawn"), "withdraw", reason, by="Bea", at=when
    )
