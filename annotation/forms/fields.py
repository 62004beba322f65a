"""What several forms do with their fields."""

from typing import Any

from django import forms
from django.db.models import QuerySet


def choose_from(form: forms.Form, name: str, rows: QuerySet[Any]) -> None:
    """Let a ModelChoiceField of this one form offer these rows."""
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField)
    field.queryset = rows
