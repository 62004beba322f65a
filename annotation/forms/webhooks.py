"""Forms of webhooks."""

from typing import Any

from django import forms

from annotation.enums import WebhookEvent
from annotation.webhooks.addresses import LONGEST, AddressRefused, read_address
from core.forms import PageForm, set_rows
from pooling.models import Pool

CHOOSE_EVENTS = "Choose what it tells of."


class WebhookForm(PageForm):
    url = forms.CharField(
        label="Address",
        max_length=LONGEST,
        help_text="https://… Messages are posted there.",
        widget=forms.URLInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    events = forms.MultipleChoiceField(
        label="It tells when",
        choices=WebhookEvent.choices,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": CHOOSE_EVENTS},
    )
    pool = forms.ModelChoiceField(
        label="Of pool", queryset=Pool.objects.none(), to_field_name="name", required=False, empty_label="all pools"
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_rows(self, "pool", Pool.objects.filter(archived=False).order_by("name"))

    def clean_url(self) -> str:
        """Refuse an address that needs no look-up to be refused, beside what else the form lacks."""
        url: str = self.cleaned_data["url"]
        try:
            read_address(url)
        except AddressRefused as error:
            raise forms.ValidationError(str(error), "refused") from error
        return url
