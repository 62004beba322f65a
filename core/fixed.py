"""Queries whose SQL is written once for each connection: Django takes longer to write one than the database to answer.

For the few that every answer of a person needs (see annotation/labelling). A `Fixed` is called with the values that
change, and gives the rows that its queryset would give.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import DateTimeField, QuerySet, UUIDField
from django.db.transaction import TransactionManagementError

Row = TypeVar("Row")

_FIRST_INT = 2_000_000_000  # fits into every column of whole numbers
_FIRST_TIME = datetime(9999, 1, 1, tzinfo=UTC)


class Fixed(Generic[Row]):
    """A SELECT by values that change.

    `build` makes its queryset from them, each a keyword: whole numbers, UUIDs or times, never None, a list or a flag,
    since these change the SQL. It is called with stand-ins, once for each connection, so it may depend on nothing
    else; and it must filter by ids, since a row's own manager puts that row into what it finds.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Row]]) -> None:
        self._build = build

    def __call__(self, **values: Any) -> list[Row]:
        """Return the rows for these values, read now."""
        # this thread's own connection: django.db.connection is one object for all threads
        connection = connections[DEFAULT_DB_ALIAS]
        kept: dict[Fixed[Row], _Written] = vars(connection).setdefault("fixed_queries", {})
        if self not in kept:
            kept[self] = _Written(connection, self._build, values)
        return kept[self].rows(values)

    def first(self, **values: Any) -> Row | None:
        """Return the first row, or None."""
        return next(iter(self(**values)), None)


class _Written:
    """The queryset of a Fixed, with its SQL, for one connection, and so for one thread."""

    def __init__(self, connection: Any, build: Callable[..., QuerySet[Any, Any]], values: dict[str, Any]) -> None:
        self.connection = connection
        stand_ins = {name: _stand_in(value, number) for number, (name, value) in enumerate(values.items())}
        self.queryset = build(**stand_ins)
        self.compiler: Any = self.queryset.query.get_compiler(connection=connection)
        self.sql, params = self.compiler.as_sql()
        known = {_adapted(value): name for name, value in stand_ins.items()}
        # of each parameter: the value that it stands for, or what it is always; and its type, which a driver may need
        self.params = [(known.get(param), param, type(param)) for param in params]
        if missing := set(known.values()) - {name for name, _, _ in self.params}:
            raise ValueError(f"{', '.join(sorted(missing))}: not in the SQL of this query as one of its parameters")
        vars(self.queryset.query)["get_compiler"] = lambda *_, **__: self.compiler

    def rows(self, values: dict[str, Any]) -> list[Any]:
        adapted = {name: _adapted(value) for name, value in values.items()}
        if self.queryset.query.select_for_update and not self.connection.in_atomic_block:
            raise TransactionManagementError("this query locks rows: call it in a transaction")
        params = tuple(
            always if name is None else kind(adapted[name]) if issubclass(kind, int) else adapted[name]
            for name, always, kind in self.params
        )
        self.compiler.as_sql = lambda *_, **__: (self.sql, params)
        iterable: Any = self.queryset._iterable_class  # what Django reads a queryset by
        return list(iterable(self.queryset))


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
    raise TypeError(f"{value!r} is not a whole number, UUID or time: the SQL would differ with it")


def _adapted(value: Any) -> Any:
    """Return a value as Django gives it to the driver of this database."""
    match value:
        case UUID():
            return UUIDField().get_db_prep_value(value, connection)
        case datetime():
            return DateTimeField().get_db_prep_value(value, connection)
    return value
