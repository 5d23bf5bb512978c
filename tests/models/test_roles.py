"""A database role that serves pages and can't touch frozen rows, as docs/deploy/roles.sql makes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command
from django.db import ProgrammingError, connection, transaction

from jobs.models import ImportRun, Job
from plural_site.accounts.models import Project, User
from plural_site.db.frozen import frozen_tables, missing_triggers
from tests.builders import BenchmarkSpec, make_job, track
from tests.uploading import enqueue, packed

if TYPE_CHECKING:
    from tests.conftest import ClientAs

SQL = Path(__file__).parents[2] / "docs" / "deploy" / "roles.sql"
OWNER, WEB = "tests_plural_owner", "tests_plural_web"


def _run(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.fixture
def _roles(db: None) -> None:
    """All in the test's transaction, so nothing of it stays."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no roles.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        if not cursor.fetchone()[0]:
            pytest.skip("Only a superuser can make roles and act as them.")
    _run(
        f"CREATE ROLE {OWNER}",
        f"CREATE ROLE {WEB} NOINHERIT",
        f"GRANT CREATE, USAGE ON SCHEMA public TO {OWNER}",
    )
    _run("SET CONSTRAINTS ALL IMMEDIATE", *(f"ALTER TABLE {name} OWNER TO {OWNER}" for name in _tables()))
    _run(f"ALTER FUNCTION plural_site_refuse_change OWNER TO {OWNER}")
    sql = SQL.read_text().replace("plural_owner", OWNER).replace("plural_web", WEB)
    with _acting_as(OWNER):
        _run(sql.replace("BEGIN;\n", "").replace("COMMIT;\n", ""))


def _tables() -> list[str]:
    with connection.cursor() as cursor:
        return connection.introspection.table_names(cursor)


@contextmanager
def _acting_as(role: str) -> Iterator[None]:
    """As if the site had connected as this role."""
    _run(f"SET LOCAL SESSION AUTHORIZATION {role}")
    yield
    _run("SET LOCAL SESSION AUTHORIZATION DEFAULT")


@pytest.mark.usefixtures("_roles")
def test_web_role_may_add_frozen_rows_only_and_anything_with_others() -> None:
    verbs = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE")
    with connection.cursor() as cursor:
        found = {}
        for table in _tables():
            cursor.execute(
                "SELECT " + ", ".join(f"has_table_privilege('{WEB}', %s, '{verb}')" for verb in verbs),
                [table] * len(verbs),
            )
            found[table] = {verb for verb, may in zip(verbs, cursor.fetchone(), strict=True) if may}
    assert {table for table, may in found.items() if may == {"SELECT", "INSERT"}} == frozen_tables()
    assert {table for table, may in found.items() if may == {"SELECT"}} == {"django_migrations"}
    others = found.keys() - frozen_tables() - {"django_migrations"}
    assert all(found[table] == {"SELECT", "INSERT", "UPDATE", "DELETE"} for table in others)


@pytest.mark.usefixtures("_roles")
def test_refusal_is_the_database_s_own_even_without_triggers() -> None:
    _run("ALTER TABLE accounts_auditevent DISABLE TRIGGER USER")
    with _acting_as(WEB):
        for statement in (
            "UPDATE accounts_auditevent SET verb = 'x'",
            "DELETE FROM accounts_auditevent",
            "TRUNCATE accounts_auditevent",
            "ALTER TABLE accounts_auditevent DISABLE TRIGGER ALL",
            "DROP TRIGGER frozen_rows ON accounts_auditevent",
        ):
            with (
                pytest.raises(ProgrammingError, match="permission denied|must be owner"),
                transaction.atomic(),
            ):
                _run(statement)


@pytest.mark.usefixtures("_roles")
def test_site_works_as_the_web_role_and_takes_back_only_what_it_is_let(
    project: Project, ann: User, client_as: ClientAs, tmp_path: Path
) -> None:
    client = client_as(ann)
    with _acting_as(WEB):
        make_job(tmp_path, benchmark=BenchmarkSpec(tracks=(track(),)), track_id="open")
        run = enqueue(project, ann, packed(tmp_path))
        call_command("work", "--once")
        assert client.get("/readyz").json()["migrations"] == "ok"
        undo = f"/projects/triage/imports/{run.pk}/undo"
        refused = client.post(undo)
        assert refused.status_code == 409
        assert "database role may not remove frozen rows" in refused.content.decode()
        delete = "/projects/triage/settings/delete"
        refused = client.post(delete, {"slug": "triage"})
        assert "database role may not remove frozen rows" in refused.content.decode()
        run.refresh_from_db()
        assert (run.status, Job.objects.count()) == ("done", 1)
    _run(f"GRANT {OWNER} TO {WEB}")
    with _acting_as(WEB):
        assert client.post(undo).status_code == 302
        assert ImportRun.objects.get().status == "undone"
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            _run("DELETE FROM accounts_auditevent")  # it is itself again
        assert client.post(delete, {"slug": "triage"}).status_code == 302
        assert not Project.objects.filter(slug="triage").exists()
        assert missing_triggers(connection) == []
