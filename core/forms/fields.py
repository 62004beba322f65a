"""The base of forms on pages, and functions that set what the choice fields of one form offer."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.db.models import QuerySet


class PageForm(forms.Form):
    """A form whose errors the server tells: the browser does not stop it at an empty required field."""

    use_required_attribute = False


def set_rows(form: forms.Form, name: str, rows: QuerySet[Any]) -> None:
    """Let a ModelChoiceField of this form offer these rows."""
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField)
    field.queryset = rows


def set_choices(form: forms.Form, name: str, choices: Iterable[tuple[Any, Any]]) -> None:
    """Let a choice field of this form offer these pairs of value and label."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = list(choices)
