"""Keeping stored files from being removed while a backup reads them or a restore puts them in.

Whoever removes files asks here first and leaves them; rows go all the same. What was left is removed by
whoever held them, when done, or by the worker and `manage.py collect_files`.
"""

from __future__ import annotations

import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from django.utils import timezone

from jobs.import_lock import held_lock, is_alive, lock_file
from jobs.models import FileHold

BEAT_SECONDS = 30.0


class Holding:
    """`beat` is to be called now and then. `has_leftovers` is known once it has ended."""

    def __init__(self, row: FileHold) -> None:
        self._row, self._said = row, time.monotonic()
        self.has_leftovers = False

    def beat(self) -> None:
        if time.monotonic() - self._said >= BEAT_SECONDS:
            self._said = time.monotonic()
            FileHold.objects.filter(pk=self._row.pk).update(beat_at=timezone.now())

    def end(self) -> None:
        self.has_leftovers = FileHold.objects.filter(pk=self._row.pk, has_leftovers=True).exists()
        FileHold.objects.filter(pk=self._row.pk).delete()


@contextmanager
def holding(what: str) -> Iterator[Holding]:
    """Holds all stored files until it ends, however its process does."""
    lock = uuid.uuid4().hex
    with held_lock(lock_file(lock)):
        held = Holding(
            FileHold.objects.create(what=what, host=socket.gethostname(), lock=lock, beat_at=timezone.now())
        )
        try:
            yield held
        finally:
            held.end()


def files_are_held() -> bool:
    """Whether stored files have to stay for now. Notes for the holder that some were to be removed."""
    alive = [hold.pk for hold in FileHold.objects.all() if is_alive(hold)]
    if alive:
        FileHold.objects.filter(pk__in=alive, has_leftovers=False).update(has_leftovers=True)
    return bool(alive)


def end_dead() -> bool:
    """Ends the holds of processes that died. Says whether one of them kept something from being removed."""
    dead = [hold for hold in FileHold.objects.all() if not is_alive(hold)]
    FileHold.objects.filter(pk__in=[hold.pk for hold in dead]).delete()
    return any(hold.has_leftovers for hold in dead)
