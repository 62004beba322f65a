"""Queries whose SQL is written once: what they find, on both databases, and what they refuse."""

from __future__ import annotations

import json
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, connection
from django.db.models import F, Value
from django.db.transaction import TransactionManagementError, atomic

from annotation.models import Delivery, Webhook
from core.fixed import Fixed, FixedUpdate
from tests.postgres import printed_on_postgres

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
PROGRAM = """
import django, json
django.setup()
from tests.core.database.test_fixed import at_once, found, prepared
print(json.dumps([found(), at_once(), prepared()]))
"""


def found() -> list[Any]:
    """What Fixed finds, and the querysets: by numbers, times and UUIDs, rows and tuples, joined and in a union."""
    names = ["p0", "p1", "p2'; \u00fc%s", "p3"]
    people = [User.objects.create(username=name, date_joined=NOON + timedelta(hours=i)) for i, name in enumerate(names)]
    for person in people[:2]:
        person.groups.add(Group.objects.get_or_create(name="crew")[0])
    hook = Webhook.objects.create(url="https://hooks.example")
    sent = [Delivery.objects.create(webhook=hook, event="test", due_at=NOON) for _ in range(2)]
    kinds = [
        (lambda pk: User.objects.filter(pk=pk), [{"pk": person.pk} for person in people]),
        (lambda uid: Delivery.objects.select_related("webhook").filter(uid=uid), [{"uid": one.uid} for one in sent]),
        (
            lambda since, pk: User.objects.filter(date_joined__gt=since).exclude(pk=pk).order_by("-pk"),
            [{"since": NOON, "pk": people[2].pk}, {"since": NOON - timedelta(hours=1), "pk": people[0].pk}],
        ),
        (
            lambda pk: User.objects.filter(pk=pk).values_list("groups__name", "username"),
            [{"pk": people[0].pk}, {"pk": people[3].pk}],
        ),
        (
            lambda a, b: (
                User.objects.order_by()
                .filter(pk=a)
                .values_list(Value(1), "pk")
                .union(Delivery.objects.order_by().filter(pk=b).values_list(Value(2), "pk"), all=True)
            ),
            [{"a": people[1].pk, "b": sent[1].pk}, {"a": 0, "b": sent[0].pk}],
        ),
        (
            lambda name, since: User.objects.filter(username=name, date_joined__gte=since),
            [{"name": "p1", "since": NOON}, {"name": "p2'; \u00fc%s", "since": NOON}],
        ),
        (
            lambda pk: User.objects.filter(pk=pk).annotate(twice=F("pk") * 2).values_list("twice", flat=True),
            [{"pk": person.pk} for person in people],
        ),
        (
            lambda name, last: (
                User.objects.filter(username=name, last_name=last)
                .order_by("date_joined")
                .distinct()
                .values_list("pk", flat=True)
            ),
            [{"name": name, "last": ""} for name in names],
        ),
    ]
    rows = []
    for build, values in kinds:
        fixed: Fixed[Any] = Fixed(build)
        for one in [*values, *values]:
            rows.append([repr(list(build(**one))), repr(fixed(**one))])
    return rows


def at_once() -> list[str]:
    """Ask by one Fixed in eight threads at once; return what was not the row that was asked for."""
    people = [User.objects.create(username=f"thread{i}") for i in range(8)]
    fixed = Fixed(lambda pk: User.objects.filter(pk=pk))
    start, wrong = threading.Barrier(len(people)), []

    def ask(person: User) -> None:
        start.wait()
        for _ in range(200):
            if (one := fixed.first(pk=person.pk)) != person:
                wrong.append(f"{one} for {person}")
        connection.close()

    threads = [threading.Thread(target=ask, args=(person,)) for person in people]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns in the midst of everything
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    return wrong


def prepared() -> list[Any]:
    """Ask nine times by ids of all sizes, over an error and a rollback; return the statements that PostgreSQL keeps for
    it, with their types, how many plans were made for values and how many for all; and the ids that were found.
    """
    fixed: Fixed[Any] = Fixed(
        lambda pk: User.objects.filter(pk=pk, first_name="only here").values_list("pk", flat=True)
    )
    ids = [30_000, 70_000, 2_000_000_000]
    User.objects.bulk_create(User(pk=pk, username=f"id{pk}", first_name="only here") for pk in ids)
    found = fixed(pk=ids[0])
    try:
        with atomic(), atomic():
            found += fixed(pk=ids[1])
            User.objects.create(username=f"id{ids[0]}")
    except IntegrityError:
        found += fixed(pk=ids[2])
    found += [pk for pk in ids * 2 for pk in fixed(pk=pk)]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT parameter_types::text, custom_plans, generic_plans FROM pg_prepared_statements"
            " WHERE statement LIKE '%only here%'"
        )
        return [cursor.fetchall(), found == ids * 3]


def check(rows: list[list[str]]) -> None:
    assert len(rows) == 44
    assert all(of_queryset == of_fixed != "[]" for of_queryset, of_fixed in rows), rows


def test_the_rows_of_the_queryset():
    check(found())


@pytest.mark.postgres
def test_the_rows_of_the_queryset_on_postgresql(tmp_path: Path, migrated_postgres: str):
    rows, wrong, (statements, all_found) = json.loads(
        printed_on_postgres(PROGRAM, like=migrated_postgres, var=tmp_path)
    )
    check(rows)
    assert not wrong, (len(wrong), wrong[:3])  # each thread has SQL and values of its own
    # since the rollback, after which the driver prepares again: planned for its values five times, then for all
    assert all_found and statements == [["{bigint}", 5, 2]]


@pytest.mark.postgres
def test_nothing_is_prepared_where_the_setting_says_so(tmp_path: Path, migrated_postgres: str, monkeypatch):
    monkeypatch.setenv("DATABASE_PREPARE", "0")
    rows, wrong, (statements, all_found) = json.loads(
        printed_on_postgres(PROGRAM, like=migrated_postgres, var=tmp_path)
    )
    check(rows)
    assert not wrong and all_found and statements == []


def test_sql_is_written_once_for_a_connection_and_rows_are_read_each_time(django_assert_num_queries):
    made = []
    fixed = Fixed(lambda pk: made.append(pk) or User.objects.filter(pk=pk))
    person = User.objects.create(username="ann")
    with django_assert_num_queries(4):
        assert fixed.first(pk=person.pk) == person
        assert fixed.first(pk=person.pk + 1) is None
        User.objects.filter(pk=person.pk).update(username="bob")
        assert fixed.first(pk=person.pk).username == "bob"
    assert len(made) == 1


@pytest.mark.parametrize("value", [None, True, [1], b"bytes", 1.5])
def test_values_that_change_the_sql_are_refused(value):
    with pytest.raises(TypeError, match="is not a whole number, UUID, time or text"):
        Fixed(lambda pk: User.objects.filter(pk=pk))(pk=value)


def test_a_value_that_is_not_in_the_sql_is_refused():
    """As it would be if the build computed with it: the result would be that of the stand-in."""
    with pytest.raises(ValueError, match="pk: not in the SQL"):
        Fixed(lambda pk: User.objects.filter(pk=pk + 1))(pk=1)
    with pytest.raises(ValueError, match="other: not in the SQL"):
        Fixed(lambda pk, other: User.objects.filter(pk=pk))(pk=1, other=2)


@pytest.mark.django_db(transaction=True)
def test_rows_are_locked_in_a_transaction_only():
    fixed = Fixed(lambda pk: User.objects.filter(pk=pk).select_for_update())
    with atomic():
        fixed(pk=1)
    with pytest.raises(TransactionManagementError, match="in a transaction"):
        fixed(pk=1)
    with pytest.raises(TransactionManagementError, match="in a transaction"):
        FixedUpdate(lambda pk: (User.objects.filter(pk=pk), {"first_name": "a"}))(pk=1)


def test_an_update_changes_the_rows_of_the_queryset_and_counts_them(django_assert_num_queries):
    made = []

    def build(pk: int, name: str, at: datetime) -> tuple[Any, dict[str, Any]]:
        made.append(pk)
        mine = User.objects.filter(pk=pk, is_staff=False).order_by("pk").select_for_update(no_key=True)
        return User.objects.filter(pk__in=mine.values("pk")), {
            "first_name": name,
            "last_login": None,
            "date_joined": at,
        }

    rename = FixedUpdate(build)
    people = [User.objects.create(username=f"p{i}", is_staff=i == 2, last_login=NOON) for i in range(4)]
    with django_assert_num_queries(4):
        told = [rename(pk=person.pk, name=f"it's {person.pk}", at=NOON) for person in [*people[:3], people[0]]]
    assert told == [1, 1, 0, 1] and len(made) == 1
    rows = list(User.objects.order_by("pk").values_list("first_name", "last_login", "date_joined"))
    assert rows[:2] == [(f"it's {person.pk}", None, NOON) for person in people[:2]]
    assert [row[:2] for row in rows[2:]] == [("", NOON)] * 2
