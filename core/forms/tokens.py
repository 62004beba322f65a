"""The form of a new API token."""

from collections.abc import Sequence
from typing import Any

from django import forms

from core.enums import TokenScope
from core.forms.fields import PageForm, set_choices

DAYS = ((7, "1 week"), (30, "30 days"), (90, "90 days"), (365, "1 year"))


class TokenForm(PageForm):
    name = forms.CharField(
        label="Name", max_length=80, help_text="What you will know it by: the script or machine that uses it."
    )
    scopes = forms.MultipleChoiceField(
        label="It may",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose what the token is for."},
    )
    days = forms.TypedChoiceField(label="It ends after", choices=DAYS, coerce=int, initial=30)

    def __init__(self, *args: Any, scopes: Sequence[TokenScope], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_choices(self, "scopes", ((scope.value, scope.label) for scope in scopes))
        self.fields["scopes"].initial = [scopes[0].value]
