from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, close_old_connections

from jobs.queue import QueueWorker

log = logging.getLogger(__name__)
REST_SECONDS, REST_AFTER_TROUBLE = 1.0, 5.0


class Command(BaseCommand):
    help = "Imports what was uploaded, one upload after another, until it is stopped by SIGTERM or Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="end when the queue is empty")
        parser.add_argument("--parent", type=int, metavar="PID", help="end when this parent has ended")

    def handle(self, *args: Any, once: bool, parent: int | None, **options: Any) -> None:
        signal.signal(signal.SIGTERM, _stop)
        signal.signal(signal.SIGINT, _stop)
        worker = QueueWorker()
        try:
            while parent is None or os.getppid() == parent:
                try:
                    busy = worker.step()
                    rest = REST_SECONDS
                except (DatabaseError, OSError):
                    if once:
                        raise
                    log.exception("The database or the file store refused; trying again")
                    close_old_connections()
                    busy, rest = False, REST_AFTER_TROUBLE
                if not busy and once:
                    return
                if not busy:
                    time.sleep(rest)
        finally:
            with contextlib.suppress(DatabaseError):
                worker.end()


def _stop(*args: Any) -> None:
    """An import in the middle goes back to the queue. A second signal waits for that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(0)
