"""The base of forms on pages, a field for small files, and functions that set what choice fields offer."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.db.models import QuerySet

TOO_LARGE = "The file has {:,} bytes; at most {:,} can be sent here. {}"


class PageForm(forms.Form):
    """A form whose errors the server tells: the browser does not stop it at an empty required field."""

    use_required_attribute = False


class SmallFileField(forms.FileField):
    """A file of at most `most` bytes; the refusal of a larger one ends with `instead`, another way to bring it."""

    def __init__(self, *, most: int, instead: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.most, self.instead = most, instead

    def clean(self, data: Any, initial: Any = None) -> Any:
        file = super().clean(data, initial)
        if file and file.size > self.most:
            raise forms.ValidationError(TOO_LARGE.format(file.size, self.most, self.instead))
        return file


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
