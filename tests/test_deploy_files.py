"""The files of docs/deploy, as far as they can be judged without installing them."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from plural_site import env

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "docs" / "deploy"
UNITS = sorted(path.name for path in DEPLOY.glob("*.service"))


def unit(name: str) -> configparser.ConfigParser:
    """Of a name that is given twice, the last value."""
    parsed = configparser.ConfigParser(strict=False, interpolation=None)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    parsed.read(DEPLOY / name)
    return parsed


def example() -> dict[str, str]:
    lines = re.findall(r"^#?([A-Z][A-Z0-9_]+)=(.*)$", (DEPLOY / "plural-site.env").read_text(), re.MULTILINE)
    return dict(lines)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
@pytest.mark.parametrize("name", ["plural-web.socket", *UNITS])
def test_units_are_what_systemd_takes(name: str, tmp_path: Path) -> None:
    for path in DEPLOY.glob("plural-*.s*"):
        text = path.read_text().replace("/opt/plural-site/.venv/bin/gunicorn", "/bin/true")
        text = text.replace("/opt/plural-site/.venv/bin/python", "/bin/true")
        (tmp_path / path.name).write_text(re.sub(r"(User|Group)=\S+", r"\1=root", text))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / name)],
        env={"SYSTEMD_UNIT_PATH": f"{tmp_path}:", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    ours = [line for line in done.stderr.splitlines() if str(tmp_path) in line or "plural" in line]
    assert (done.returncode, ours) == (0, [])


def test_units_are_hardened_alike() -> None:
    hardened = {(DEPLOY / name).read_text().partition("\nUser=")[2] for name in UNITS}
    assert len(UNITS) == 2
    assert len(hardened) == 1
    service = unit(UNITS[0])["Service"]
    assert service["ProtectSystem"] == "strict"
    assert service["EnvironmentFile"] == "/etc/plural-site.env"
    assert f"/var/lib/{service['StateDirectory']}" == example()["DATA_DIR"]


def test_example_environment_holds_variables_that_there_are_and_no_secret(tmp_path: Path) -> None:
    known = (ROOT / "docs" / "install.md").read_text()
    given = example()
    assert [name for name in given if f"`{name}`" not in known and name != "WEB_CONCURRENCY"] == []
    values = {name: value for name, value in given.items() if value} | {"DATA_DIR": str(tmp_path)}
    found = env.read(values, tmp_path)
    assert found.https
    assert found.bucket is not None
    assert "CHANGE-ME" in given["SECRET_KEY"]
    assert all(not given[name] for name in given if "TOKEN" in name or "ACCESS" in name)


def test_nginx_and_units_meet_at_one_socket() -> None:
    nginx = (DEPLOY / "nginx.conf").read_text()
    assert f"server unix:{unit('plural-web.socket')['Socket']['ListenStream']} " in nginx
    assert "client_max_body_size 9m" in nginx
