"""Locks that belong to no row and last until the transaction ends."""

from __future__ import annotations

from django.db import connection


def wait_in_turn(key: int, *, shared: bool = False) -> None:
    """Waits until no transaction holds `key`, or, shared, until none holds it alone.

    Call inside a transaction. On SQLite that is enough: only one transaction is open at a time, since each
    begins IMMEDIATE.
    """
    if connection.vendor == "postgresql":
        function = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {function}(%s)", [key])
