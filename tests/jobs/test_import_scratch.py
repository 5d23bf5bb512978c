"""Where an import puts what memory isn't to hold."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from jobs.domain.readers import packs
from jobs.models import Execution
from plural_site.accounts.models import Project
from tests.builders import Outcome, make_job
from tests.importing import bring


@pytest.mark.parametrize("is_packed", [False, True])
def test_large_packs_do_not_touch_the_systems_folder(
    is_packed: bool, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = Outcome(artifacts={"large.bin": bytes(5000)})
    path = make_job(tmp_path / "jobs", outcomes=lambda *_: large)
    if is_packed:
        path = Path(shutil.make_archive(str(tmp_path / "jobs"), "gztar", tmp_path / "jobs"))
    monkeypatch.setattr(packs, "IN_MEMORY", 1000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    bring(project, path)
    assert Execution.objects.count() == 2
