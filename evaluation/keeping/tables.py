"""Turn the rows of the whole database into lines of JSON and back, the same for SQLite and PostgreSQL."""

import base64
import hashlib
import json
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder

from core.database import insert_rows

# sessions, failed logins and workers belong to the moment and to this machine; a copy of the site sends no webhooks
_LEFT_OUT = (
    "sessions.", "axes.", "core.Worker", "core.SiteVersion", "annotation.PasswordRequest", "annotation.Webhook",
    "annotation.Delivery", "account.", "socialaccount.",
)  # fmt: skip
# what migrations write into a new database; a restore puts its own in their place
_OF_MIGRATIONS = ("contenttypes.ContentType", "auth.Permission", "auth.Group", "auth.Group_permissions")
_ROWS = 2000  # read at a time

Coder = tuple[Callable[[Any], Any], Callable[[Any], Any]]
_CODERS: dict[str, Coder] = {
    "DateTimeField": (datetime.isoformat, datetime.fromisoformat),
    "DateField": (date.isoformat, date.fromisoformat),
    "UUIDField": (str, uuid.UUID),
    "DecimalField": (str, Decimal),
    "BinaryField": (lambda value: base64.b64encode(bytes(value)).decode(), base64.b64decode),
}


@dataclass
class TableSum:
    """Count and sum up the rows of a table in any order, since databases sort text differently."""

    rows: int = 0
    total: int = 0

    def add(self, text: str) -> None:
        self.rows += 1
        self.total = (self.total + int.from_bytes(hashlib.sha256(text.encode()).digest())) % 2**256

    @property
    def sha256(self) -> str:
        return f"{self.total:064x}"


class Table:
    """Read and write the rows of one table as lines of JSON, each a list of the values of its columns."""

    def __init__(self, model: type[models.Model]) -> None:
        self.model = model
        self.name = model._meta.label
        self.fields = list(model._meta.concrete_fields)
        self.columns = [field.attname for field in self.fields]
        self._coders = [_CODERS.get(_kind(field)) for field in self.fields]
        # what a driver takes as it is, numbers and text, needs no field to prepare it
        self._prepared = [(i, f) for i, f in enumerate(self.fields) if _kind(f) in (*_CODERS, "JSONField")]
        self._json = [i for i, field in enumerate(self.fields) if _kind(field) == "JSONField"]

    @property
    def comes_with_migrations(self) -> bool:
        return self.name in _OF_MIGRATIONS

    def lines(self, into: TableSum) -> Iterator[str]:
        """Yield every row as a line, without holding them all; `into` counts and sums them."""
        rows = self.model._base_manager.order_by("pk").values_list(*self.columns)
        for row in rows.iterator(chunk_size=_ROWS):
            values = [
                value if value is None or coder is None else coder[0](value)
                for value, coder in zip(row, self._coders, strict=True)
            ]
            line = _text(values)
            for i in self._json:
                values[i] = _plain(values[i])
            into.add(_text(values) if self._json else line)
            yield line

    def insert(self, lines: Iterable[str]) -> None:
        """Insert rows from the lines of `lines()`. The caller holds the transaction."""
        insert_rows(self.model, self.columns, (self._row(json.loads(line)) for line in lines))

    def sum(self) -> TableSum:
        """Return the checksum of the current rows."""
        found = TableSum()
        deque(self.lines(found), maxlen=0)
        return found

    def _row(self, values: list[Any]) -> tuple[Any, ...]:
        for i, field in self._prepared:
            coder = self._coders[i]
            value = values[i] if coder is None or values[i] is None else coder[1](values[i])
            values[i] = field.get_db_prep_save(value, connection)
        return tuple(values)


def tables() -> list[Table]:
    """Return every table of a backup, also those of many-to-many fields, always in the same order."""
    every = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    kept = [model for model in every if not model._meta.label.startswith(_LEFT_OUT) and not model._meta.proxy]
    return [Table(model) for model in sorted(kept, key=lambda model: model._meta.label)]


def owners_of_artifacts() -> list[type[models.Model]]:
    """Return the models whose rows own files: those with a field `artifact`."""
    return [model for model in apps.get_models() if "artifact" in {field.name for field in model._meta.concrete_fields}]


def migrations() -> list[str]:
    """Return the names of the applied migrations."""
    applied = MigrationRecorder(connection).applied_migrations()
    # allauth's tables are there while single sign-on is on, and hold nothing
    return sorted(f"{app}.{name}" for app, name in applied if app not in ("account", "socialaccount"))


def reset_sequences(every: Iterable[Table]) -> None:
    """Number new rows after those that were inserted with their ids; SQLite does so by itself."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), [table.model for table in every]):
            cursor.execute(statement)


def _kind(field: Any) -> str:
    while isinstance(field, models.ForeignKey):
        field = field.target_field
    return str(field.get_internal_type())


def _text(values: list[Any]) -> str:
    return json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _plain(value: Any) -> Any:
    """Return JSON as every database gives it back: PostgreSQL has one kind of number."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
