"""Everything that must be settled before these bytes become public."""

from __future__ import annotations

from collections.abc import Collection

from hub.domain.leaks.types import Finding, PrivateMaterial


def scan(
    body: bytes,
    private: PrivateMaterial,
    public_names: Collection[str],
    public_texts: Collection[str] = (),
) -> list[Finding]:
    """Findings in `body`, the exact JSON bytes that would be published, in the order of their places.

    `public_names` are names that are public by themselves (Tasks, Categories, tools, models, Agents): private
    material that mentions them is not disclosed by them. `public_texts` are longer texts that are public
    whatever is published (rules, boundary texts): a part of one that also stands in private material is no
    finding, but a whole private value inside one is. Never raises: bytes that are no JSON are read as text.
    """
    raise NotImplementedError
