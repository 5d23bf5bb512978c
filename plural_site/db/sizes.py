"""How much the database takes."""

from __future__ import annotations

from django.db import connection


def database_bytes() -> int:
    """Bytes on disk; on SQLite without what its log holds on top."""
    statement = (
        "SELECT pg_database_size(current_database())"
        if connection.vendor == "postgresql"
        else "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement)
        size: int = cursor.fetchone()[0]
        return size
