"""Publications: bare rows, and the way through the steps."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from django.contrib.auth import get_user_model
from django.test import Client

from benchmarks.models import Resource
from hub.models import Draft, Facet, Listing, Manifest, ManifestRecord, Publication, PublishedResult
from tests.builders import START
from tests.forms import form_with


def digest(number: int) -> str:
    return f"sha256:{number:064x}"


def hub_rows(resource: Resource) -> Publication:
    """A row in every table of the Hub, and a second manifest that has no record."""
    publication = Publication.objects.create(
        project=resource.project,
        resource=resource,
        account_slug="acme",
        slug=resource.slug,
        title=resource.name,
    )
    manifest, _ = (
        Manifest.objects.create(
            publication=publication,
            version="1.0.0",
            schema_version="plural.benchmark-publication/1",
            digest=digest(number),
            body=b"{}",
            published_at=START,
        )
        for number in (1, 2)
    )
    ManifestRecord.objects.create(
        publication=publication,
        version="1.0.0",
        sequence=1,
        manifest=manifest,
        kind="publish",
        by="Ann",
        at=START,
        digest=digest(3),
        body=b"{}",
    )
    PublishedResult.objects.create(
        manifest=manifest,
        result_id="res_1",
        track_ref="open@1.0.0",
        configuration=digest(4),
        label="steady",
        model="sim/steady",
        status="accepted",
        provenance="self_reported",
        score=0.5,
        eligible=True,
    )
    listing = Listing.objects.create(
        publication=publication,
        manifest=manifest,
        title=publication.title,
        version="1.0.0",
        publisher="Acme",
        results=1,
        tasks=2,
        is_withdrawn=False,
        updated_at=START,
        folded="",
    )
    Facet.objects.create(listing=listing, kind="licence", value="MIT")
    person = get_user_model().objects.create(email="publisher@example.test")
    Draft.objects.create(publication=publication, person=person)
    return publication


class Publisher:
    """Walks the steps of publishing, sending each form as the page shows it but for what is changed."""

    def __init__(self, client: Client, project: str = "triage", slug: str = "demo-bench") -> None:
        self.client = client
        self.path = f"/projects/{project}/benchmarks/{slug}/publish"

    def page(self, step: str, query: str = "") -> str:
        response = self.client.get(f"{self.path}/{step}{query}")
        assert response.status_code == 200, (step, response.status_code, response.headers.get("Location"))
        return response.content.decode()

    def send(self, step: str, **changes: Any) -> Any:
        """The answer to the form of a step; None leaves a field out."""
        fields: dict[str, Any] = dict(form_with(self.page(step), "version"))
        for name, value in changes.items():
            fields[name] = value
        return self.client.post(
            f"{self.path}/{step}", {name: value for name, value in fields.items() if value is not None}
        )

    def start(self, release: str = "1.0.0") -> None:
        assert self.client.post(self.path).status_code == 302
        self.answer("release", release=release)

    def answer(self, step: str, **changes: Any) -> None:
        response = self.send(step, **changes)
        assert response.status_code == 302, response.content.decode()

    def values(self, name: str) -> list[str]:
        """Values of the boxes of this name in step 2, ticked or not."""
        return [
            unescape(value)
            for value in re.findall(f'name="{name}" id="[^"]*" value="([^"]*)"', self.page("results"))
        ]

    def pick(self, *agents: str, **more: Any) -> None:
        """Ticks these Agents, of every track."""
        page = self.page("results")
        rows = re.findall(
            r'name="pick" id="[^"]*" value="([^"]*)".*?<b><bdi>(.*?)</bdi></b>', page, re.DOTALL
        )
        self.answer("results", pick=[unescape(value) for value, agent in rows if agent in agents], **more)

    def to_the_check(self, *agents: str, **text: Any) -> str:
        """From an open release to the preview; its digest."""
        self.pick(*agents)
        self.answer("disclosure")
        self.answer("text", **text)
        return self.shown()

    def shown(self) -> str:
        (digest,) = form_with(self.page("check"), "digest")["digest"]
        return digest

    def freeze(self, digest: str = "") -> Any:
        return self.client.post(
            f"{self.path}/check",
            {
                **form_with(self.page("check"), "digest"),
                "do": "freeze",
                **({"digest": digest} if digest else {}),
            },
        )

    def publish(self, *agents: str, release: str = "1.0.0", **text: Any) -> Manifest:
        """From nothing to a manifest."""
        self.start(release)
        digest = self.to_the_check(*agents, **text)
        response = self.freeze(digest)
        assert response.status_code == 302, response.content.decode()
        return Manifest.objects.get(digest=digest)
