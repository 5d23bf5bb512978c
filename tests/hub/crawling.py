"""Every public address that can be reached from the Hub's first page, fetched once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

from django.test import Client

PUBLIC = ("/hub", "/api/v1/public")


@dataclass(frozen=True)
class Fetched:
    status: int
    headers: str
    body: bytes
    links: tuple[str, ...]
    ids: frozenset[str]


def crawl(client: Client, start: str = "/hub") -> dict[str, Fetched]:
    """By address. The states of a board have no end, so those of one that has a query lead no further."""
    found: dict[str, Fetched] = {}
    todo = [start]
    while todo:
        path = todo.pop()
        found[path] = page = _fetch(client, path)
        if "?" not in path:
            targets = {link.partition("#")[0] for link in page.links}
            todo += [
                each for each in sorted(targets) if each.startswith(PUBLIC) and each not in {*found, *todo}
            ]
    return found


def _fetch(client: Client, path: str) -> Fetched:
    response = client.get(path)
    headers = "\n".join(f"{name}: {value}" for name, value in response.headers.items())
    is_html = "text/html" in response.headers["Content-Type"]
    html = response.content.decode() if is_html else ""
    links = tuple(map(unescape, re.findall(r'(?:href|src|data-figure)="([^"]*)"', html)))
    return Fetched(
        response.status_code,
        headers,
        response.content,
        links,
        frozenset(re.findall(r'\bid="([^"]+)"', html)),
    )
