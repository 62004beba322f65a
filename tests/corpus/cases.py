"""The cases of the corpus: bad files by importer, each with the message that it must get.

A folder holds the files of an importer, and expected.tsv: the name of a case, the entrances (`all`, or some), and the
message with white space as one space. A case is a file, or a folder of files that are given together. What an entrance
says in other words has a line of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from django.apps import apps
from django.conf import settings
from django.db import connection

CORPUS = Path(__file__).parent
EXPECTED, ALL = "expected.tsv", "all"
# may have a row more that says what was refused, or are written by migrations whenever tests empty the database
UNCHANGING = ("core_job", "core_auditentry", "django_session", "django_content_type", "auth_permission")


class Line(NamedTuple):
    case: str
    entrance: str
    message: str


def folders() -> list[str]:
    return sorted(path.parent.name for path in CORPUS.glob(f"*/{EXPECTED}"))


def expected(folder: str) -> list[Line]:
    text = (CORPUS / folder / EXPECTED).read_text(encoding="utf-8")
    return [Line(*line.split("\t")) for line in text.splitlines()]


def names(folder: str) -> list[str]:
    """Return the cases that lie in a folder."""
    return sorted(path.name for path in (CORPUS / folder).iterdir() if path.name != EXPECTED)


def in_words(text: str) -> str:
    """Return a message with white space as one space and without the folder of this machine."""
    return " ".join(text.replace(f"{CORPUS}/", "").split())


def state() -> dict[str, object]:
    """Return how many rows each table has, and every file of the artifact folder."""
    tables = sorted(model._meta.db_table for model in apps.get_models() if model._meta.managed)
    counted = [table for table in tables if table not in UNCHANGING]
    with connection.cursor() as cursor:
        cursor.execute("SELECT " + ", ".join(f'(SELECT count(*) FROM "{table}")' for table in counted))
        rows = dict(zip(counted, cursor.fetchone(), strict=True))
    root = Path(settings.ARTIFACT_ROOT)
    return {**rows, "files": sorted(str(path.relative_to(root)) for path in root.rglob("*"))}
