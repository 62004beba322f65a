"""The form that asks for a name before something is deleted."""

from typing import Any

from django import forms

from core.forms import PageForm

NOT_TYPED = "Type {} to delete it; nothing was deleted."


class TypedNameForm(PageForm):
    """Ask for the name of what is to be deleted."""

    name = forms.CharField(max_length=200, required=False)

    def __init__(self, *args: Any, expected: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.expected = expected
        self.fields["name"].label = f"To delete it for good, type its name: {expected}"
        self.fields["name"].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}

    def clean_name(self) -> str:
        if self.cleaned_data["name"] != self.expected:
            raise forms.ValidationError(NOT_TYPED.format(self.expected))
        return self.expected
