"""Lock rows that new rows will refer to, so that nobody deletes them meanwhile."""

from django.db.models import Model

from core.errors import GoneError


def held(*rows: Model) -> None:
    """Keep each row from being deleted until the transaction ends; raise GoneError if one is deleted already.

    Deletion locks its row too (evaluation/keeping/removal.py). Both lock graphs, then systems, then pools: pass them in
    that order.
    """
    for row in rows:
        if not type(row)._base_manager.select_for_update(no_key=True).filter(pk=row.pk):
            raise gone(row)


def gone(row: Model) -> GoneError:
    """Return the error for a row that was deleted meanwhile."""
    kind, name = row._meta.verbose_name, getattr(row, "name", row.pk)
    return GoneError(f"{str(kind).capitalize()} {name} was deleted in the meantime, so nothing was changed.")
