"""Frozen rows are refused by the database itself, whichever it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import IntegrityError, connection, models, transaction
from django.db.models import F, Q, Subquery

from plural_site.accounts.actions import create_api_key, record
from plural_site.accounts.models import ApiKey, AuditEvent, Project, User
from plural_site.db.frozen import install, missing_triggers, thaw, thawed

TABLE = AuditEvent._meta.db_table


def _delete_raw(event: AuditEvent) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {TABLE} WHERE id = %s", [event.pk])  # noqa: S608 - constant


def _update_conflicts(event: AuditEvent) -> None:
    AuditEvent.objects.bulk_create(
        [AuditEvent(pk=event.pk, actor=event.actor, verb="changed", object_type="x", object_id="1")],
        update_conflicts=True,
        update_fields=["verb"],
        unique_fields=["id"],
    )


CHANGES: dict[str, Callable[[AuditEvent], object]] = {
    "save": lambda event: event.save(),
    "update": lambda event: AuditEvent.objects.filter(pk=event.pk).update(verb="changed"),
    "update to the same": lambda event: AuditEvent.objects.filter(pk=event.pk).update(verb=F("verb")),
    "delete": lambda event: event.delete(),
    "delete in bulk": lambda event: AuditEvent.objects.filter(pk=event.pk).delete(),
    "delete raw": _delete_raw,
    "bulk_create over": _update_conflicts,
}


@pytest.fixture
def event(dee: User) -> AuditEvent:
    return record(dee, "test", dee)


def _is_refused(change: Callable[[], object]) -> None:
    with pytest.raises(IntegrityError, match="frozen"), transaction.atomic():
        change()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_frozen_row_refuses(change: Callable[[AuditEvent], object], event: AuditEvent) -> None:
    _is_refused(lambda: change(event))
    assert AuditEvent.objects.get(pk=event.pk).verb == "test"


def test_frozen_row_refuses_to_be_replaced_or_truncated(event: AuditEvent) -> None:
    statement = {
        "sqlite": f"INSERT OR REPLACE INTO {TABLE} SELECT * FROM {TABLE}",  # noqa: S608 - constant
        "postgresql": f"TRUNCATE {TABLE} CASCADE",
    }[connection.vendor]
    connection.check_constraints()  # PostgreSQL truncates only when none is still to be checked
    with connection.cursor() as cursor:
        _is_refused(lambda: cursor.execute(statement))
    assert AuditEvent.objects.filter(pk=event.pk).exists()


def test_frozen_rows_can_be_added_beside_existing_ones(event: AuditEvent) -> None:
    copies = [
        AuditEvent(pk=pk, actor=event.actor, verb="copy", object_type="x", object_id="1")
        for pk in (event.pk, event.pk + 1)
    ]
    AuditEvent.objects.bulk_create(copies, ignore_conflicts=True)
    verbs = AuditEvent.objects.filter(pk__gte=event.pk).order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["test", "copy"]


def test_check_reports_missing_triggers_and_install_mends_them(event: AuditEvent) -> None:
    call_command("check", databases=["default"], fail_level="WARNING")
    thaw(connection, [TABLE])
    assert {table for table, _ in missing_triggers(connection)} == {TABLE}
    with pytest.raises(SystemCheckError, match=f"Table {TABLE} of database 'default' is not frozen"):
        call_command("check", databases=["default"], fail_level="WARNING")
    install(connection)
    install(connection)
    assert missing_triggers(connection) == []
    _is_refused(event.delete)


def test_weakened_trigger_counts_as_missing(event: AuditEvent) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            connection.check_constraints()
            cursor.execute(f"ALTER TABLE {TABLE} DISABLE TRIGGER frozen_rows")
        else:
            name = f"frozen_{TABLE}_update"
            cursor.execute(f"DROP TRIGGER {name}")
            cursor.execute(f"CREATE TRIGGER {name} BEFORE UPDATE ON {TABLE} BEGIN SELECT 1; END")
    assert len(missing_triggers(connection)) == 1
    install(connection)
    assert missing_triggers(connection) == []
    _is_refused(event.save)


def test_thawed_lets_one_transaction_remove_a_project_and_keep_its_log(project: Project, ann: User) -> None:
    key, _ = create_api_key(actor=ann, account=project.account, project=project)
    event = record(key, "test", project, project=project)
    _is_refused(lambda: AuditEvent.objects.filter(project=project).update(project=None))
    with thawed(AuditEvent):
        person = ApiKey.objects.filter(pk=models.OuterRef("actor_key")).values("user")
        AuditEvent.objects.filter(actor_key__project=project).update(actor=Subquery(person), actor_key=None)
        project.delete()
    event.refresh_from_db()
    assert (event.project, event.actor, event.actor_key) == (None, ann, None)
    assert missing_triggers(connection) == []
    _is_refused(event.save)


def test_thawed_undoes_everything_when_it_fails(event: AuditEvent) -> None:
    with pytest.raises(RuntimeError), thawed(AuditEvent):
        event.delete()
        raise RuntimeError
    assert AuditEvent.objects.filter(verb="test").exists()
    assert missing_triggers(connection) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("time", [1, 2])
def test_flush_after_a_test_empties_frozen_tables_and_restores_triggers(time: int, dee: User) -> None:
    """The second time round starts with what the flush of the first has left."""
    assert missing_triggers(connection) == []
    assert AuditEvent.objects.count() == 1
    _is_refused(lambda: AuditEvent.objects.all().delete())


@pytest.mark.django_db(transaction=True)
def test_migrate_restores_triggers_that_a_table_rebuild_dropped(dee: User) -> None:
    constraint = models.CheckConstraint(condition=~Q(verb=""), name="verb_for_this_test")
    with connection.schema_editor() as editor:
        editor.add_constraint(AuditEvent, constraint)
    try:
        assert bool(missing_triggers(connection)) == (connection.vendor == "sqlite")
        call_command("migrate", verbosity=0)
        assert missing_triggers(connection) == []
        _is_refused(lambda: AuditEvent.objects.all().delete())
    finally:
        with connection.schema_editor() as editor:
            editor.remove_constraint(AuditEvent, constraint)
