"""Nothing of a project but what was published is at any public address."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from django.test import Client

from hub.models import Publication
from jobs.actions import set_aside
from jobs.models import Job, Trial
from plural_site.accounts.models import Project, User
from tests.builders import AgentSpec, BenchmarkSpec, Outcome, track
from tests.conftest import ClientAs
from tests.hub.crawling import Fetched, crawl
from tests.importing import record
from tests.publishing import Publisher

PRIVATE = {
    "instructions": "Refund the violet umbrella before noon.",
    "prompt": "Always mention the copper lantern first.",
    "evidence": "The customer said seventeen pelicans.",
    "feedback": "Missed the granite staircase clause.",
    "error": "Socket of the walnut cabinet was closed.",
    "artifact": "Contents of the crimson ledger.",
    "artifact name": "crimson-ledger-9.txt",
    "unpublished agent": "unpublished-walrus",
    "unpublished model": "secretlab/unreleased-marmot",
    "set aside": "The intern spilled marmalade on it.",
    "other benchmark": "Hidden Orchard Exam",
    "draft title": "Unannounced Thunder Suite",
}


def fetched_texts(pages: dict[str, Fetched]) -> dict[str, str]:
    texts = {}
    for path, page in pages.items():
        texts[path] = f"{page.headers}\n{page.body.decode('utf-8', 'replace')}"
        if page.body.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(page.body)) as archive:
                texts[path] = "\n".join(archive.read(name).decode() for name in archive.namelist())
    return texts


def plant(project: Project, folder: Path, ann: User) -> None:
    outcome = Outcome(
        evidence=(PRIVATE["evidence"],),
        feedback=PRIVATE["feedback"],
        error_message=PRIVATE["error"],
        artifacts={PRIVATE["artifact name"]: PRIVATE["artifact"].encode()},
    )
    failed = Outcome(score=0.0, evidence=(PRIVATE["evidence"],), feedback=PRIVATE["feedback"])
    spec = BenchmarkSpec(task_text={"first": PRIVATE["instructions"]}, tracks=(track(attempts=2),))
    for key, agent in {
        "shown": AgentSpec(name="steady", model="sim/steady", instructions=PRIVATE["prompt"]),
        "kept": AgentSpec(name=PRIVATE["unpublished agent"], model=PRIVATE["unpublished model"]),
        "aside": AgentSpec(name="other", model="sim/other"),
    }.items():
        record(
            project,
            folder / key,
            benchmark=spec,
            agents=[agent],
            attempts=2,
            track_id="open",
            key=key,
            outcomes=lambda agent, task, attempt: outcome if attempt == 1 else failed,
        )
    record(
        project, folder / "hidden", benchmark=BenchmarkSpec(name=PRIVATE["other benchmark"], slug="hidden")
    )
    aside = Job.objects.get(agents__name="other")
    set_aside(actor=ann, project=project, job_id=aside.client_job_id, reason=PRIVATE["set aside"])
    Publication.objects.create(account_slug="ann", slug="next", title=PRIVATE["draft title"])


def test_no_public_address_shows_what_was_not_published(
    project: Project, ann: User, client: Client, client_as: ClientAs, tmp_path: Path
) -> None:
    plant(project, tmp_path, ann)
    manifest = Publisher(client_as(ann)).publish("steady")
    pages = crawl(client)
    assert any(page.body == bytes(manifest.body) for page in pages.values())
    texts = fetched_texts(pages)
    kept = {
        **PRIVATE,
        "project": project.name,
        "e-mail address": ann.email,
        "machine path": str(tmp_path),
        **{f"Trial {trial}": trial for trial in _trials()},
    }
    leaks = [(what, path) for what, text in kept.items() for path, shown in texts.items() if text in shown]
    assert leaks == []
    signed_in = client_as(ann)
    for path in (path for path in pages if "?" not in path):  # nor does being signed in show more of it
        shown = signed_in.get(path).content.decode("utf-8", "replace")
        assert not [what for what, text in PRIVATE.items() if text in shown], path


def _trials() -> list[str]:
    return list(Trial.objects.values_list("client_trial_id", flat=True))
