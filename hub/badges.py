"""Badges: small pictures for READMEs that name the release they speak for."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from hub.domain.manifest import ManifestResult
from hub.domain.recompute import ranking
from hub.public_board import configuration_of
from hub.public_read import Published, ReleaseLine
from plural_site import formats

HEIGHT = 20
MOST_CHARACTERS = 40
GREY, BLUE, RED, AMBER = "#3d444d", "#0b4a8a", "#8f1d17", "#6b4300"
"""White on each of them has a contrast above 7."""
_NARROW, _WIDE = frozenset("fijlrt.,:;|!'()[]I1 "), frozenset("mwMW@%")


@dataclass(frozen=True, slots=True)
class Badge:
    label: str
    message: str
    colour: str


def publication_badge(published: Published, line: ReleaseLine, *, pinned: bool) -> Badge:
    manifest = published.manifest
    version = manifest.release.version
    short = f" #{published.digest.removeprefix('sha256:')[:7]}" if pinned else ""
    label = formats.clean_text(manifest.publication.title)
    if line.withdrawal:
        return Badge(label, f"{version}{short} withdrawn", RED)
    count = sum(result.status == "accepted" for result in manifest.results)
    return Badge(label, f"{version}{short} · {count} result{'' if count == 1 else 's'}", BLUE)


def result_badge(published: Published, line: ReleaseLine, result: ManifestResult) -> Badge:
    manifest = published.manifest
    label = f"{formats.clean_text(manifest.publication.title)} {manifest.release.version}"
    name = formats.clean_text(configuration_of(manifest, result).label)
    if line.withdrawal or result.status == "withdrawn":
        return Badge(label, f"{name}: withdrawn", RED)
    if result.status == "superseded":
        return Badge(label, f"{name}: corrected", AMBER)
    low, high = manifest.scoring.score_range
    score = formats.score_text(result.score, low, high)
    unit = f" {formats.score_unit(low, high)}".rstrip() if result.score is not None else ""
    ranks = ranking(manifest, result.track)
    rank, of = ranks[result.id], sum(each is not None for each in ranks.values())
    place = f"rank {rank} of {of}" if rank is not None else "not ranked"
    return Badge(label, f"{name}: {score}{unit}, {place}", BLUE)


def badge_svg(badge: Badge) -> str:
    """An SVG of attributes only, so that it shows under any content security policy."""
    label, message = (_short(text) for text in (badge.label, badge.message))
    left, right = _width(label), _width(message)
    title = escape(f"{badge.label}: {badge.message}")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" role="img" '
        f'aria-label="{title}">',
        f"<title>{title}</title>",
        f'<rect width="{left + right}" height="{HEIGHT}" rx="3" fill="{badge.colour}"/>',
        f'<path d="M3 0h{left - 3}v{HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="{GREY}"/>',
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">',
        _text(label, left / 2, left),
        _text(message, left + right / 2, right),
        "</g></svg>\n",
    ]
    return "".join(parts)


def _text(text: str, middle: float, room: int) -> str:
    place = f'x="{middle:g}" y="14" textLength="{room - 12}" lengthAdjust="spacingAndGlyphs"'
    return f"<text {place}>{escape(text)}</text>"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1].rstrip()}…"


def _width(text: str) -> int:
    """About what 11 px of Verdana take, with 6 px on both sides."""
    widths = (4.4 if c in _NARROW else 10.2 if c in _WIDE or ord(c) > 0x2E80 else 7.2 for c in text)
    return round(sum(widths)) + 12
