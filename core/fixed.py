"""Queries whose SQL is written once for each connection: Django takes longer to write one than the database to answer.

For the few that every answer of a person needs (see annotation/labelling). A `Fixed` is called with the values that
change, and gives the rows that its queryset would give; a `FixedUpdate` changes the rows that its queryset would.
PostgreSQL also plans them only once (core/prepared.py).
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import DateTimeField, QuerySet, UUIDField
from django.db.models.sql import UpdateQuery
from django.db.transaction import TransactionManagementError

Row = TypeVar("Row")

_FIRST_INT = 2_000_000_000  # fits into every column of whole numbers
_FIRST_TIME = datetime(9999, 1, 1, tzinfo=UTC)


class Fixed(Generic[Row]):
    """A SELECT by values that change.

    `build` makes its queryset from them, each a keyword: whole numbers, UUIDs, times or texts, never None, a list or a
    flag, since these change the SQL. It is called with stand-ins, once for each connection, so it may depend on
    nothing else; and it must filter by ids, since a row's own manager puts that row into what it finds.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Row]]) -> None:
        self._build = build

    def __call__(self, **values: Any) -> list[Row]:
        """Return the rows for these values, read now."""
        written, params = _written(self, values, self._write)
        with written.cursor() as cursor:
            cursor.execute(written.sql, params)
            rows = cursor.fetchall()
        if written.compiler.has_extra_select:  # sorted by what is not asked for
            rows = [row[: written.compiler.col_count] for row in rows]
        written.compiler.execute_sql = lambda *_, **__: [rows]
        iterable: Any = written.queryset._iterable_class  # what Django reads a queryset by
        return list(iterable(written.queryset))

    def first(self, **values: Any) -> Row | None:
        """Return the first row, or None."""
        return next(iter(self(**values)), None)

    def _write(self, stand_ins: dict[str, Any], connection: Any) -> "_Written":
        queryset = self._build(**stand_ins)
        written = _Written(queryset, queryset.query.get_compiler(connection=connection), stand_ins)
        vars(queryset.query)["get_compiler"] = lambda *_, **__: written.compiler
        compiler = written.compiler
        of_columns = compiler.get_converters([column for column, *_ in compiler.select[: compiler.col_count]])
        compiler.get_converters = lambda _: of_columns
        return written


class FixedUpdate:
    """An UPDATE by values that change; `build` makes from them its queryset and what it sets, as for `Fixed`."""

    def __init__(self, build: Callable[..., tuple[QuerySet[Any, Any], dict[str, Any]]]) -> None:
        self._build = build

    def __call__(self, **values: Any) -> int:
        """Change the rows for these values; return how many."""
        written, params = _written(self, values, self._write)
        with written.cursor() as cursor:
            cursor.execute(written.sql, params)
            return int(cursor.rowcount)

    def _write(self, stand_ins: dict[str, Any], connection: Any) -> "_Written":
        queryset, changes = self._build(**stand_ins)
        query: Any = queryset.query.chain(UpdateQuery)
        query.add_update_values(changes)
        return _Written(queryset, query.get_compiler(connection=connection), stand_ins)


class _Written:
    """A queryset with the SQL of its statement, for one connection, and so for one thread."""

    def __init__(self, queryset: QuerySet[Any, Any], compiler: Any, stand_ins: dict[str, Any]) -> None:
        self.queryset, self.compiler = queryset, compiler
        self.sql, params = compiler.as_sql()
        self.locks = queryset.query.select_for_update or isinstance(compiler.query, UpdateQuery)
        known = {_adapted(value): name for name, value in stand_ins.items()}
        # of each parameter: the value that it stands for, or what it is always; and its type, which a driver may need
        self.params = [(known.get(param), param, type(param)) for param in params]
        if missing := set(known.values()) - {name for name, _, _ in self.params}:
            raise ValueError(f"{', '.join(sorted(missing))}: not in the SQL of this query as one of its parameters")
        self.prepared: Any = None
        if compiler.connection.vendor == "postgresql":
            from core import prepared  # not at the top: SQLite needs no driver of PostgreSQL

            self.prepared = prepared
            self.sql = prepared.with_literals(self.sql, self.params, compiler.connection)
            self.params = [param for param in self.params if param[0]]

    def cursor(self) -> Any:
        connection = self.compiler.connection
        return self.prepared.cursor(connection) if self.prepared else connection.cursor()


def _written(
    query: Any, values: dict[str, Any], write: Callable[[dict[str, Any], Any], _Written]
) -> tuple[_Written, tuple[Any, ...]]:
    """Return the statement of a query on this thread's connection, and its parameters for these values."""
    # this thread's own connection: django.db.connection is one object for all threads
    connection = connections[DEFAULT_DB_ALIAS]
    kept: dict[Any, _Written] = vars(connection).setdefault("fixed_queries", {})
    if query not in kept:
        kept[query] = write(
            {name: _stand_in(value, number) for number, (name, value) in enumerate(values.items())}, connection
        )
    written = kept[query]
    if written.locks and not connection.in_atomic_block:
        raise TransactionManagementError("this query locks or changes rows: call it in a transaction")
    adapted = {name: _adapted(value) for name, value in values.items()}
    params = tuple(
        always if name is None else kind(adapted[name]) if issubclass(kind, int) else adapted[name]
        for name, always, kind in written.params
    )
    return written, tuple(map(written.prepared.one_type, params)) if written.prepared else params


def _stand_in(value: Any, number: int) -> Any:
    """Return a value of the same kind that occurs nowhere else."""
    match value:
        case bool():
            pass
        case int():
            return _FIRST_INT + number
        case UUID():
            return UUID(int=_FIRST_INT + number)
        case datetime():
            return _FIRST_TIME.replace(microsecond=number)
        case str():
            return f"\x1fstand-in {number}"
    raise TypeError(f"{value!r} is not a whole number, UUID, time or text: the SQL would differ with it")


def _adapted(value: Any) -> Any:
    """Return a value as Django gives it to the driver of this database."""
    match value:
        case UUID():
            return UUIDField().get_db_prep_value(value, connection)
        case datetime():
            return DateTimeField().get_db_prep_value(value, connection)
    return value
