"""Statements of `core.fixed` on PostgreSQL, planned once for each connection: planning takes longer than answering.

Imported on PostgreSQL only. The driver names a prepared statement, makes it again on a new connection or after a
rollback, and sends values apart from the text. settings.py sets from which use on (`prepare_threshold`).
"""

from contextlib import AbstractContextManager
from typing import Any

from django.db.backends.postgresql.base import ServerBindingCursor
from psycopg.sql import Literal
from psycopg.types.numeric import Int8


def with_literals(sql: str, params: list[tuple[str | None, Any, type]], connection: Any) -> str:
    """Return the text with `%s` only where a value changes: `params` says of each its name, or None, and its value.

    A text is prepared for types, and PostgreSQL can't know the type of a value that is selected.
    """
    connection.ensure_connection()
    first, *rest = sql.split("%s")
    return first + "".join(
        ("%s" if name else Literal(value).as_string(connection.connection).replace("%", "%%")) + after
        for (name, value, _), after in zip(params, rest, strict=True)
    )


def one_type(value: Any) -> Any:
    """Return a value whose type is the same for each number; the driver would choose by size, and so prepare again."""
    return Int8(value) if type(value) is int else value


def cursor(connection: Any) -> AbstractContextManager[Any]:
    """Return a cursor that prepares, on a connection of Django's, which logs and counts its statements like others."""
    connection.ensure_connection()
    with connection.wrap_database_errors:
        own: Any = ServerBindingCursor  # its base differs with the driver, which types do not say
        prepared: AbstractContextManager[Any] = connection._prepare_cursor(own(connection.connection))
        return prepared
