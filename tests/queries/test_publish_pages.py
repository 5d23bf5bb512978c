"""Pages of publishing ask the same number of questions, however much there is."""

from __future__ import annotations

from pathlib import Path

from django.db import connection
from django.test.utils import CaptureQueriesContext

from plural_site.accounts.models import Project, User
from tests.builders import BenchmarkSpec, agents_named, track
from tests.conftest import ClientAs
from tests.importing import record
from tests.publishing import Publisher


def asked(publisher: Publisher, path: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert publisher.client.get(path).status_code == 200
    return len(captured)


def test_pages_of_publishing_ask_no_more_when_there_is_more(
    project: Project, tmp_path: Path, ann: User, client_as: ClientAs
) -> None:
    publisher = Publisher(client_as(ann))
    names = [f"agent-{number}" for number in range(6)]
    counts: list[dict[str, int]] = []
    for number, (version, agents) in enumerate((("1.0.0", names[:2]), ("1.1.0", names))):
        spec = BenchmarkSpec(version=version, purpose=f"Purpose {version}.", tracks=(track(),))
        record(
            project,
            tmp_path / version,
            benchmark=spec,
            agents=agents_named(agents),
            track_id="open",
            key=version,
        )
        publisher.publish(agents[0], release=version)
        publisher.start(version)
        paths = [f"{publisher.path}/{step}" for step in ("release", "results")] + ["/projects/triage/publish"]
        counts.append({path: asked(publisher, path) for path in paths})
        publisher.client.post(f"{publisher.path}/discard")
        assert len(counts) == number + 1
    assert counts[0] == counts[1]
    assert max(counts[0].values()) <= 30
