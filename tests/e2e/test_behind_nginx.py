"""The site as docs/deployment.md sets it up: nginx with docs/deploy/nginx.conf, TLS, gunicorn on a socket."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
import urllib3

from tests.ports import free_port, is_open
from tests.serving import ROOT, Person, Serving, kill, wait_for

NGINX = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
ACTIVATE = shutil.which("systemd-socket-activate")
pytestmark = [
    pytest.mark.skipif(not (NGINX and ACTIVATE and shutil.which("openssl")), reason="nginx is not installed"),
    pytest.mark.filterwarnings("ignore::urllib3.exceptions.InsecureRequestWarning"),  # its own certificate
]
HOST, TOKEN = "plural.example.org", "0123456789" * 3
MAIN = """
daemon off;
{user}
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


class Behind:
    """`http` and `https` are nginx's ports; `socket` is where it hands over."""

    def __init__(self, folder: Path, site: Serving) -> None:
        self.folder, self.site = folder, site
        self.http, self.https = free_port(), free_port()
        self.socket = folder / "site.sock"
        self.url = f"https://127.0.0.1:{self.https}"
        self.nginx = site.start("nginx", str(NGINX), "-c", str(self._configured()), "-p", str(folder))
        wait_for(lambda: is_open(self.https), "nginx did not come up")

    def _configured(self) -> Path:
        self._certificate()
        text = (ROOT / "docs" / "deploy" / "nginx.conf").read_text()
        text = re.sub(r"\n *listen \[::\].*", "", text)
        for old, new in (
            ("listen 80;", f"listen 127.0.0.1:{self.http};"),
            ("listen 443 ", f"listen 127.0.0.1:{self.https} "),
            ("/run/plural-site.sock", str(self.socket)),
            (f"/etc/letsencrypt/live/{HOST}/", f"{self.folder}/"),
            ("/var/log/nginx/plural-site.log", f"{self.folder}/access.log"),
        ):
            assert old in text
            text = text.replace(old, new)
        (self.folder / "site.conf").write_text(text)
        main = self.folder / "nginx.conf"
        user = "user root;" if os.geteuid() == 0 else ""
        main.write_text(MAIN.format(folder=self.folder, user=user))
        return main

    def _certificate(self) -> None:
        names = ("-keyout", f"{self.folder}/privkey.pem", "-out", f"{self.folder}/fullchain.pem")
        subject = ("-subj", f"/CN={HOST}", "-days", "2", "-nodes", "-newkey", "rsa:2048")
        subprocess.run(["openssl", "req", "-x509", *subject, *names], check=True, capture_output=True)

    def activate(self) -> None:
        """As plural-web.socket does: the socket is there before gunicorn, which the first request starts."""
        kept = [f"--setenv={name}" for name in self.site.environment]
        listen = (str(ACTIVATE), *kept, "--listen", str(self.socket))
        self.web = self.site.start("web", *listen, "gunicorn", "-c", "python:plural_site.gunicorn_conf")
        wait_for(self.socket.exists, "no socket")

    def access(self) -> list[str]:
        return (self.folder / "access.log").read_text().splitlines()


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    folder = tmp_path_factory.mktemp("deployed")
    environment = {"PLURAL_SITE_URL": f"https://{HOST}", "METRICS_TOKEN": TOKEN, "WEB_CONCURRENCY": "3"}
    with Serving(folder / "data", 0, **environment) as site:
        site.manage("migrate", "--verbosity", "0")
        site.manage("collectstatic", "--noinput", "--verbosity", "0")
        site.add_person("ann@example.org", "triage")
        behind = Behind(folder, site)
        behind.activate()
        site.worker()
        yield behind
        for name in ("web", "worker"):
            assert "Traceback" not in site.log(name)


class Visitor(Person):
    """Comes over TLS with a certificate that nobody signed, by the site's name."""

    def __init__(self, behind: Behind, email: str = "") -> None:
        self.host = HOST
        self.trusts = False
        super().__init__(behind.url, email)

    def request(self, method: str, url: str, *args: object, **options: object) -> requests.Response:  # type: ignore[override]
        urllib3.disable_warnings()
        headers = {"Host": HOST, "Referer": f"https://{HOST}/"} | dict(options.pop("headers", None) or {})  # type: ignore[call-overload]
        headers["Referer"] = f"https://{HOST}/"
        return super().request(method, url, *args, headers=headers, verify=False, **options)


@pytest.fixture(scope="module")
def ann(behind: Behind) -> Visitor:
    return Visitor(behind, "ann@example.org")


def logged(behind: Behind) -> list[dict[str, object]]:
    lines = [line for line in behind.site.log("web").splitlines() if line.startswith("{")]
    return [json.loads(line) for line in lines]


def test_plain_http_is_sent_to_https(behind: Behind) -> None:
    answer = requests.get(
        f"http://127.0.0.1:{behind.http}/x?y=1", headers={"Host": HOST}, allow_redirects=False, timeout=60
    )
    assert (answer.status_code, answer.headers["Location"]) == (301, f"https://{HOST}/x?y=1")


def test_pages_come_secure_with_ids_that_both_logs_know(behind: Behind, ann: Visitor) -> None:
    claimed = {"X-Request-ID": "of-the-client", "X-Forwarded-For": "6.6.6.6", "X-Forwarded-Proto": "http"}
    answer = ann.get("/projects/triage", headers=claimed | {"X-Forwarded-Host": "evil.example"})
    assert answer.status_code == 200
    assert "evil.example" not in answer.text
    assert "max-age=31536000" in answer.headers["Strict-Transport-Security"]
    assert all(cookie.secure for cookie in ann.cookies)
    request_id = answer.headers["X-Request-ID"]
    assert re.fullmatch("[0-9a-f]{32}", request_id)
    assert any(line.endswith(request_id) for line in behind.access())
    wait_for(lambda: any(line.get("request_id") == request_id for line in logged(behind)))
    style = re.search(r'href="(/static/css/base\.[0-9a-f]+\.css)"', answer.text)
    assert style
    static = ann.get(style[1], headers={"Accept-Encoding": "gzip"})
    assert static.headers["Cache-Control"] == "max-age=315360000, public, immutable"
    assert static.headers["Content-Encoding"] == "gzip"


def test_an_upload_in_parts_of_8_mb_passes_and_lands(behind: Behind, ann: Visitor) -> None:
    archive = (ROOT / "jobs" / "demo" / "support-triage.tar.gz").read_bytes()
    ann.token_of("/projects/triage/imports/new")
    data = archive + bytes(10_000_000 - len(archive))  # zeroes after the end of a gzip are nothing
    ann.upload("triage", "jobs.tar.gz", data)
    wait_for(lambda: len(set(re.findall(r"job_\w+", ann.get("/projects/triage/jobs").text))) >= 19)
    trial = re.search(r'href="(/projects/triage/trials/trl_\w+)"', ann.get("/projects/triage/trials").text)
    assert trial
    page = ann.get(trial[1]).text
    file = re.search(r'href="([^"]+/files/[^"]+)\?download', page)
    assert file
    whole = ann.get(file[1])
    assert whole.headers["Content-Length"] == str(len(whole.content))
    part = ann.get(file[1], headers={"Range": "bytes=0-4"})
    assert (part.status_code, part.content) == (206, whole.content[:5])
    assert hashlib.sha256(whole.content).hexdigest() in whole.headers["ETag"]


def test_bodies_that_no_page_takes_are_stopped_by_nginx(ann: Visitor) -> None:
    assert ann.post("/theme", data=b"x" * 10_000_000).status_code == 413
    large = ann.post("/projects/triage/imports/new", files={"archive": ("a.txt", b"x" * 12_000_000)})
    assert large.status_code == 403  # the site's own answer, for want of a token


def test_links_that_sign_in_are_in_no_log(behind: Behind) -> None:
    link = re.search(r"/sign-in/\S+", behind.site.manage("create_user", "eve@example.org"))
    assert link
    secret = link[0].rpartition("/")[2]
    someone = Visitor(behind)
    for address in (link[0], f"{link[0]}/x", f"/invitations/{secret}", f"/password/MQ/{secret}?next=/"):
        someone.get(address)
    logs = "\n".join([*behind.access(), behind.site.log("web"), (behind.folder / "error.log").read_text()])
    assert "/sign-in/..." in logs
    assert "/sign-in/…" in logs or "/sign-in/\\u2026" in logs
    assert secret not in logs


def test_metrics_need_the_token_and_count_for_all_processes(behind: Behind, ann: Visitor) -> None:
    assert Visitor(behind).get("/metrics").status_code == 401
    bearer = {"Authorization": f"Bearer {TOKEN}"}

    def board_requests() -> float:
        text = Visitor(behind).get("/metrics", headers=bearer).text
        found = re.search(r'requests_total\{method="GET",route="jobs:jobs",status="200"\} (\S+)', text)
        return float(found[1]) if found else 0.0

    before = board_requests()
    for _ in range(12):
        ann.get("/projects/triage/jobs")
    assert {board_requests() for _ in range(6)} == {before + 12}


def test_a_new_start_of_gunicorn_loses_no_request(behind: Behind, ann: Visitor) -> None:
    """The socket stays open, so requests wait for the next one."""
    assert ann.get("/readyz").json()["status"] == "ok"
    os.kill(behind.web.pid, signal.SIGHUP)  # new processes, the same sockets
    statuses = {ann.get("/projects/triage").status_code for _ in range(40)}
    assert statuses == {200}


def test_without_gunicorn_nginx_answers_and_the_site_comes_back(behind: Behind, ann: Visitor) -> None:
    kill(behind.web)
    assert ann.get("/readyz").status_code == 502
    behind.socket.unlink()
    behind.activate()
    wait_for(lambda: ann.get("/readyz").status_code == 200)
