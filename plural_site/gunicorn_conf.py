"""How gunicorn serves the site: `gunicorn -c python:plural_site.gunicorn_conf plural_site.wsgi`.

Options on the command line win over what stands here. WEB_CONCURRENCY sets the number of processes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plural_site.settings")

from django.conf import settings

from plural_site import metrics

wsgi_app = "plural_site.wsgi"
workers = int(os.environ.get("WEB_CONCURRENCY", "3"))
worker_class = "gthread"
threads = 4
keepalive = 75  # seconds, longer than the proxy keeps a connection
graceful_timeout = 30
limit_request_line = 8190  # a board that is asked for by many Jobs has a long address
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - heartbeats, off the disk

# Only the site itself judges what proxies tell (TRUSTED_PROXIES).
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}

control_socket_disable = True  # nobody asks for it, and it would lie in the home folder

logconfig_dict: dict[str, Any] = settings.LOGGING | {
    "loggers": settings.LOGGING["loggers"]
    | {"gunicorn.error": {"handlers": ["stderr"], "level": "INFO", "propagate": False}}
}


def on_starting(server: Any) -> None:
    metrics.forget(settings.METRICS_DIR)
