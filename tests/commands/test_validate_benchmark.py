from __future__ import annotations

import json
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.sample_project import BENCHMARK, SLUG, add, remove, swap, unpack


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("sample"))


@pytest.fixture
def project(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / SLUG, ignore=shutil.ignore_patterns(".plural"))


def run(project: Path, *options: Any) -> str:
    """What the command prints, whatever it finds."""
    out = StringIO()
    with pytest.raises(CommandError) as refused:
        call_command("validate_benchmark", project / "benchmarks" / SLUG, *options, stdout=out)
    assert refused.value.returncode == 1
    return out.getvalue()


def test_a_good_folder(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("validate_benchmark", project / "benchmarks" / SLUG)
    assert capsys.readouterr().out == "No problems: 10 Tasks, 3 categories, 2 tracks.\n"


def test_prints_every_problem_under_its_file(project: Path) -> None:
    swap(BENCHMARK, "version: 1.1.0", "version: '1'")(project)
    add(BENCHMARK, '"\\e[31mred": 1\n# PLURAL-TODO: more\n')(project)
    remove("tasks/bill-tax-id/instruction.md")(project)
    lines = run(project).splitlines()
    assert lines[0] == BENCHMARK
    assert lines[1].startswith("  line 3: version: must be MAJOR.MINOR.PATCH")
    assert lines[2].startswith("  line 69: \\x1b[31mred: is not a field here")
    assert lines[3] == "tasks/bill-tax-id/task.yaml"
    assert lines[4].startswith("  line 3: instructions: instruction.md")
    assert lines[-2:] == [BENCHMARK, "  line 70: still to be written: more"]


def test_prints_json(project: Path) -> None:
    remove("tasks/bill-tax-id/instruction.md")(project)
    report = json.loads(run(project, "--json"))
    assert report["valid"] is False
    assert report["benchmark"]["slug"] == SLUG
    assert [(problem["file"], problem["field"], problem["line"]) for problem in report["problems"]] == [
        ("tasks/bill-tax-id/task.yaml", "instructions", 3)
    ]
    assert report["warnings"] == []
