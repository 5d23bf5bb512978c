from __future__ import annotations

from pathlib import Path

import pytest

from jobs.imports import ImportReport, import_path
from plural_site.accounts.models import Project, User

ARCHIVE = Path(__file__).parents[2] / "jobs" / "demo" / "support-triage.tar.gz"


@pytest.fixture
def imported(project: Project, ann: User) -> ImportReport:
    """The recorded Jobs of the demo, in `project`."""
    return import_path(project=project, actor=ann, path=ARCHIVE)
