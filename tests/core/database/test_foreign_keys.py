"""Foreign keys without an index of their own: another index finds their rows, when what they point to is deleted."""

from django.apps import apps
from django.db.models import ForeignKey, Model


def first_columns(model: type[Model]) -> set[str]:
    """Return the fields with which an index begins that has all rows, or all rows where this field is not null."""
    begins: set[str] = set()
    for index in [*model._meta.indexes, *model._meta.constraints]:
        fields = getattr(index, "fields", ())
        condition = getattr(index, "condition", None)
        if fields and (condition is None or condition.children == [(f"{fields[0]}__isnull", False)]):
            begins.add(fields[0].removeprefix("-"))
    return begins


def test_rows_of_a_foreign_key_are_found_by_an_index():
    own = [
        field for model in apps.get_models() for field in model._meta.concrete_fields if isinstance(field, ForeignKey)
    ]
    without = [field for field in own if not field.db_index and not field.unique]
    assert {str(field) for field in without} >= {"annotation.Slot.item", "annotation.Slot.template"}
    assert [str(field) for field in without if field.name not in first_columns(field.model)] == []
