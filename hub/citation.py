"""How a published manifest is cited: in words, as BibTeX and as CITATION.cff."""

from __future__ import annotations

import json
import re
import unicodedata

from hub.public_links import absolute
from hub.public_pages import Citation
from hub.public_read import Published, RecordLine
from plural_site import formats

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def citation_of(published: Published, record: RecordLine, path: str) -> Citation:
    """`path` is that of the manifest at its digest: what is cited never changes."""
    url = absolute(path)
    return Citation(
        text=_sentence(published, record, url),
        bibtex=bibtex(published, record, url),
        cff=cff(published, record, url),
        bibtex_href=f"{path}/citation.bib",
        cff_href=f"{path}/citation.cff",
    )


def bibtex(published: Published, record: RecordLine, url: str) -> str:
    """An entry of type misc, with every character that TeX takes for its own escaped."""
    manifest = published.manifest
    fields = {
        "title": f"{{{_tex(f'{_line(manifest.publication.title)} {manifest.release.version}')}}}",
        "author": f"{{{_tex(_line(manifest.publisher.name))}}}",
        "year": str(record.at.year),
        "month": _MONTHS[record.at.month - 1],
        "version": _tex(manifest.release.version),
        "howpublished": rf"\url{{{url}}}",
        "note": _tex(published.reference),
    }
    key = f"{_key(manifest.publication.slug)}{record.at.year}"
    lines = [f"  {name} = {value if name == 'month' else f'{{{value}}}'}" for name, value in fields.items()]
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}\n"


def cff(published: Published, record: RecordLine, url: str) -> str:
    """Citation File Format 1.2.0. Its texts are JSON strings, which YAML reads as they are."""
    manifest = published.manifest
    lines = [
        "cff-version: 1.2.0",
        "message: Please cite this manifest, which never changes.",
        "type: dataset",
        f"title: {_quoted(manifest.publication.title)}",
        "authors:",
        f"  - name: {_quoted(manifest.publisher.name)}",
        f"version: {_quoted(manifest.release.version)}",
        f"date-released: {record.at:%Y-%m-%d}",
        f"url: {_quoted(url)}",
        "identifiers:",
        "  - type: other",
        f"    value: {_quoted(published.reference)}",
        "    description: Reference of the manifest with the digest of its bytes",
    ]
    return "\n".join(lines) + "\n"


def _sentence(published: Published, record: RecordLine, url: str) -> str:
    manifest = published.manifest
    who, title = _line(manifest.publisher.name), _line(manifest.publication.title)
    return (
        f"{who} ({record.at.year}). {title} {manifest.release.version}, manifest {record.sequence} of "
        f"{formats.date_text(record.at)}. {url} ({published.reference})"
    )


def _line(text: str) -> str:
    return " ".join(formats.clean_text(text).split())


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in text)


def _quoted(text: str) -> str:
    return json.dumps(_line(text), ensure_ascii=False)


def _key(slug: str) -> str:
    plain = unicodedata.normalize("NFKD", slug).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9]", "", plain) or "benchmark"
