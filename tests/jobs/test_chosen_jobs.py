"""A Trial that two Jobs hold, on a board where a reader chooses which Jobs count."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client

from jobs.models import Trial
from plural_site.accounts.models import Project
from tests.builders import START, make_job, share_trial
from tests.importing import bring

BOARD = "/projects/triage/benchmarks/demo-bench@1.0.0"


@pytest.fixture
def ids(project: Project, tmp_path: Path) -> dict[str, str]:
    """Two Jobs, both with the Trial at the first Task: 1.0 in the earlier one, 0.5 in the later one."""
    earlier = make_job(tmp_path, key="1", outcomes=lambda *_: 1.0)
    later = make_job(tmp_path, key="2", outcomes=lambda *_: 0.5, started=START + timedelta(hours=1))
    shared = share_trial(earlier, later, "first")
    bring(project, earlier)
    bring(project, later)
    return {"earlier": earlier.name, "later": later.name, "shared": shared}


@pytest.mark.parametrize(
    ("chosen", "counted", "score"),
    [
        ((), "earlier", "87.5"),
        (("earlier",), "earlier", "100.0"),
        (("later",), "later", "50.0"),
        (("earlier", "later"), "earlier", "87.5"),
        (("later", "earlier"), "earlier", "87.5"),
    ],
)
def test_a_trial_of_two_jobs_counts_once_in_those_that_are_chosen(
    chosen: tuple[str, ...], counted: str, score: str, ids: dict[str, str], visitor: Client
) -> None:
    page = visitor.get(BOARD, {"job": [ids[name] for name in chosen]}).context["page"]
    (row,) = page.table.unranked
    attempts = 2 if len(chosen) == 1 else 3
    assert (row.attempts.text, row.attempts.note, row.score.text) == (str(attempts), "", score)
    proof = visitor.get(row.attempts.href).context["page"]
    assert (proof.shown.text, proof.warnings) == (str(attempts), ())
    for href in (row.href, proof.trials_href):
        behind = visitor.get(href).context["page"]
        assert behind.total == attempts == len({trial.href for trial in behind.rows})
        (copy,) = [trial for trial in behind.rows if trial.href.endswith(ids["shared"])]
        assert copy.job_id == ids[counted]
    assert Trial.objects.filter(client_trial_id=ids["shared"]).count() == 2
