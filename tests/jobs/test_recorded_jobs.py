"""The recorded Jobs against figures from an independent implementation, to 1e-9."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.models import Resource
from jobs.imports import ImportReport, import_path
from jobs.models import Blob, Execution, Job, Tally, Trial
from plural_site.accounts.models import Project, User
from plural_site.db import blobs

if TYPE_CHECKING:
    from tests.conftest import ClientAs

ARCHIVE = Path(__file__).parents[2] / "jobs" / "demo" / "support-triage.tar.gz"
EXPECTED = json.loads((Path(__file__).parents[1] / "data/plural/expected-groups.json").read_text("utf-8"))[
    "groups"
]
OURS_ALONE = {"unit", "method", "unavailable_reason", "ineligible_reasons", "eligible"}


def differences(path: str, expected: Any, ours: Any) -> list[str]:
    if isinstance(expected, dict):
        return [
            line
            for key, value in expected.items()
            if key not in OURS_ALONE
            for line in differences(f"{path}.{key}", value, ours[key])
        ]
    if isinstance(expected, list):
        lines = [] if len(expected) == len(ours) else [f"{path}: {len(expected)} and {len(ours)} items"]
        for number, (value, our) in enumerate(zip(expected, ours, strict=False)):
            lines += differences(f"{path}[{number}]", value, our)
        return lines
    same = (
        math.isclose(expected, ours, rel_tol=1e-9, abs_tol=1e-12)
        if isinstance(expected, float) and isinstance(ours, int | float)
        else expected == ours
    )
    return [] if same else [f"{path}: {expected!r} and {ours!r}"]


def board(client_as: ClientAs, ann: User, version: str, track: str) -> dict[str, Any]:
    response = client_as(ann).get(
        f"/api/v1/benchmarks/support-triage/revisions/{version}/leaderboard",
        {"track": track, "tasks": "1"},
        headers={"X-Project-Id": "triage"},
    )
    assert response.status_code == 200
    found: dict[str, Any] = response.json()
    return found


def test_every_group_has_the_expected_figures(imported: ImportReport, client_as: ClientAs, ann: User) -> None:
    assert imported.landed
    found: list[str] = []
    for group in EXPECTED:
        answer = board(client_as, ann, group["benchmark"]["version"], group["track"] or "none")
        assert answer["revision"]["content_hash"] == group["benchmark"]["content_hash"]
        assert answer["track"] == group["track"]
        (entry,) = [e for e in answer["entries"] if e["configuration"] == group["agent_content_hash"]]
        label = f"{group['benchmark']['version']} {group['track']} {group['agent_name']}"
        found += differences(label, group["all_jobs"], entry)
        assert entry["agent"] == group["agent_name"]
        assert entry["jobs"] == group["job_ids"]
        if group["track"]:
            assert entry["eligible"] == group["all_jobs"]["eligible"]
            assert len(entry["ineligible_reasons"]) == len(group["all_jobs"]["ineligible_reasons"])
        else:
            assert entry["rank"] is None and not entry["eligible"]
    assert found == []
    assert len(EXPECTED) == Tally.objects.filter(scope=Tally.Scope.OVERALL).count()


def test_everything_recorded_is_in(imported: ImportReport, project: Project) -> None:
    assert imported.count("added") == 19
    assert Job.objects.visible(project).count() == 19
    assert (Trial.objects.count(), Execution.objects.count()) == (270, 275)
    assert all(blobs.exists(digest) for digest in Blob.objects.values_list("digest", flat=True))
    benchmark = Resource.objects.benchmarks().get()
    assert benchmark.current is not None
    assert benchmark.current.version == "1.1.0"
    versions = benchmark.revisions.order_by("number").values_list("number", "release__version")
    assert list(versions) == [(1, "1.0.0"), (2, "1.1.0")]


def test_killed_job_says_what_is_missing(imported: ImportReport, client_as: ClientAs, ann: User) -> None:
    steady = "sha256:3b92c0ad429f39846a820ccabc1a7eb7cb8ab460ebe10b53b4933b61c2c3de19"
    (entry,) = [e for e in board(client_as, ann, "1.0.0", "none")["entries"] if e["configuration"] == steady]
    assert (entry["planned"], entry["missing"]) == (40, 14)
    assert "pending" not in entry["outcomes"]


def test_importing_again_adds_nothing(imported: ImportReport, project: Project, ann: User) -> None:
    before = (Trial.objects.count(), Blob.objects.count(), list(Tally.objects.values_list("pk", "score")))
    again = import_path(project=project, actor=ann, path=ARCHIVE)
    assert again.landed
    assert again.count("unchanged") == 19
    assert before == (
        Trial.objects.count(),
        Blob.objects.count(),
        list(Tally.objects.values_list("pk", "score")),
    )
