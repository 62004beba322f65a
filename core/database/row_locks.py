"""Rows that somebody may be deleting at this moment: kept while something is made that rests on them."""

from django.db.models import Model

from core.errors import GoneError


def held(*rows: Model) -> None:
    """Keep each row from being deleted until the transaction ends; GoneError where somebody was faster.

    Who deletes one locks it too (evaluation/keeping/removal.py), a graph before systems before pools: name them so.
    """
    for row in rows:
        if not type(row)._base_manager.select_for_update(no_key=True).filter(pk=row.pk):
            raise gone(row)


def gone(row: Model) -> GoneError:
    kind, name = row._meta.verbose_name, getattr(row, "name", row.pk)
    return GoneError(f"{str(kind).capitalize()} {name} was deleted in the meantime, so nothing was changed.")
