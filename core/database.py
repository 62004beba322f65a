"""Helpers for two databases: bulk rows, locks, a snapshot, unique names, and telling that one is away."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from django.db import IntegrityError, InterfaceError, OperationalError, connection, models, transaction
from django.db.models import Model

from core.errors import GoneError


def is_away(error: BaseException | None) -> bool:
    """Return whether the database failed, and not a query; a SQLite database without tables stays an error."""
    return isinstance(error, OperationalError | InterfaceError) and "no such " not in str(error)


def is_deadlock(error: OperationalError) -> bool:
    """Return whether PostgreSQL ended the transaction because two waited for each other."""
    return getattr(error.__cause__, "sqlstate", None) == "40P01"


def insert_rows(model: type[models.Model], fields: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows of values in the order of `fields`, without the model's defaults, in the caller's transaction."""
    columns = [getattr(model._meta.get_field(name), "column", name) for name in fields]
    table, names = f'"{model._meta.db_table}"', ", ".join(f'"{column}"' for column in columns)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Django does not know COPY: without wrap_database_errors, errors would be the driver's own
            with connection.wrap_database_errors, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            marks = ", ".join(["%s"] * len(columns))
            # sqlite3 takes any iterable
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)  # type: ignore[arg-type]


def copy_records(model: type[models.Model], records: np.ndarray) -> None:
    """Copy a structured array into a table of PostgreSQL, without an object for each row, in the caller's transaction.

    Its fields have the names of the columns and the bytes that PostgreSQL sends: >i2, >i4, >i8, V16 for a UUID, S for
    texts of one length.
    """
    names = records.dtype.names or ()
    layout: list[tuple[str, Any]] = [("number of columns", ">i2")]
    for name in names:
        layout += [(f"size of {name}", ">i4"), (name, records.dtype[name])]
    rows = np.empty(len(records), dtype=layout)
    rows["number of columns"] = len(names)
    for name in names:
        rows[f"size of {name}"], rows[name] = records.dtype[name].itemsize, records[name]
    columns = ", ".join(f'"{name}"' for name in names)
    command = f'COPY "{model._meta.db_table}" ({columns}) FROM STDIN (FORMAT BINARY)'
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(command) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        copy.write(rows.tobytes())
        copy.write(b"\xff\xff")


def held(*rows: Model) -> None:
    """Keep each row from being deleted until the transaction ends; raise GoneError if one is deleted already.

    Deletion locks its row too (evaluation/keeping/removal.py). Both lock graphs, then systems, then pools: pass them in
    that order.
    """
    for row in rows:  # request.user is a proxy: its type is not the model
        if not row._meta.model._base_manager.select_for_update(no_key=True).filter(pk=row.pk):
            raise gone(row)


def kept(model: type[Model], keys: Iterable[int]) -> set[int]:
    """Return the keys whose rows are still there, and keep these from being deleted until the transaction ends.

    Unlike `held`, many may keep a row at once. A foreign key alone is checked only when the transaction ends.
    """
    wanted = list(keys)
    if connection.vendor != "postgresql":
        return set(model._base_manager.filter(pk__in=wanted).values_list("pk", flat=True))
    with connection.cursor() as cursor:
        table = model._meta.db_table
        cursor.execute(f'SELECT id FROM "{table}" WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE', [wanted])
        return {key for (key,) in cursor.fetchall()}


def one_at_a_time(what: str) -> None:
    """Wait until no other transaction does `what`, and keep others waiting until this one ends.

    For a check that no row and no constraint stands for. SQLite has one writer at a time anyway.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [what])


def gone(row: Model) -> GoneError:
    """Return the error for a row that was deleted meanwhile."""
    kind, name = row._meta.verbose_name, getattr(row, "name", row.pk)
    return GoneError(f"{str(kind).capitalize()} {name} was deleted in the meantime, so nothing was changed.")


@contextmanager
def one_moment() -> Iterator[None]:
    """Read inside one database snapshot; writers are not blocked. Inside a transaction, it is the transaction's."""
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")  # the settings' IMMEDIATE would keep every writer waiting
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute("ROLLBACK")


@contextmanager
def named_once(check: Callable[[], None]) -> Iterator[None]:
    """Open a transaction that makes a row of a unique name; if the database refuses it, call `check` again.

    `check` raises a UserError if the name is taken; the caller has called it once before.
    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        check()
        raise
