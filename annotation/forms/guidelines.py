"""The form in which a manager writes guidelines."""

from django import forms

from annotation.messages.guidelines import MAX_LENGTH
from core.forms import PageForm


class GuidelinesForm(PageForm):
    text = forms.CharField(
        label="Text, in Markdown",
        max_length=MAX_LENGTH,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "true"}),
        help_text="# heading, **bold**, - list, | table |, [name](https://…). HTML and images are not shown.",
    )
    after = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
