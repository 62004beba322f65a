"""Forms of the order of judging: the order and its batches, when they stop, and the audit sample."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.enums import TargetMeasure
from annotation.errors import CampaignError
from annotation.models import Campaign
from annotation.release.settings import (
    DEFAULT_ORDER,
    LARGEST_SEED,
    RELEASE_AT_ONCE,
    OrderSettings,
    read_settings,
    write_settings,
)
from core.forms import PageForm, set_choices
from pooling.orders import ORDERS


class OrderForm(PageForm):
    order = forms.ChoiceField(
        label="Order",
        initial=DEFAULT_ORDER,
        help_text="Which triples people get first. By depth suits most campaigns: it begins with what systems rank "
        "highest.",
    )
    batch_size = forms.IntegerField(
        label="Triples in a batch",
        min_value=0,
        max_value=RELEASE_AT_ONCE,
        initial=0,
        help_text="0 gives out everything at once, and the order is ignored. Otherwise the next batch is given out "
        "when somebody has nothing left to label.",
    )
    single = forms.BooleanField(
        label="Single triples, not whole questions",
        required=False,
        help_text="A batch then has only the triples that the order chooses. This needs fewer labels, but the same "
        "question may come back in a later batch.",
    )
    settings = forms.CharField(
        label="Settings of the order",
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "autocapitalize": "none"}),
        help_text="Only two orders have settings: hedge (beta = 0.1) and stratified (bounds = 2, 5 and rates = 1, 0.5, "
        "0.25). One per line; leave empty for these defaults.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_choices(self, "order", ((name, entry.label) for name, entry in ORDERS.items()))

    @classmethod
    def of(cls, campaign: Campaign, data: Any = None) -> OrderForm:
        """Return the form with the order that the campaign has."""
        now = {
            "order": campaign.order,
            "batch_size": campaign.batch_size,
            "single": not campaign.whole_questions,
            "settings": "\n".join(write_settings(campaign.order_settings)),
        }
        return cls(data, initial=now)

    def clean_settings(self) -> OrderSettings:
        lines = [line for line in self.cleaned_data["settings"].splitlines() if line.strip()]
        try:
            return read_settings(lines)
        except CampaignError as error:
            raise forms.ValidationError(str(error), "setting") from error


class OpenForm(OrderForm):
    """The order, batches and audit sample of a campaign that is to be opened."""

    audit_percent = forms.FloatField(
        label="Audit sample, percent of the filtered triples",
        min_value=0,
        max_value=100,
        initial=0,
        help_text="They are mixed with the others, unmarked, and show how many answers each filter removes. "
        "0: no sample; you can draw one later.",
    )

    def options(self) -> dict[str, Any]:
        """Return the settings as open_campaign takes them."""
        asked = self.cleaned_data
        return {
            "order": asked["order"],
            "order_settings": asked["settings"],
            "batch_size": asked["batch_size"],
            "whole_questions": not asked["single"],
            "audit": asked["audit_percent"] / 100,
        }


class StoppingForm(PageForm):
    """When batches stop coming by themselves."""

    budget = forms.IntegerField(
        label="Budget, in labels",
        min_value=0,
        required=False,
        help_text="No more batches once this many labels are given or on their way. Leave empty for no limit.",
    )
    target_tau = forms.FloatField(
        label="Target for tau, now against resampled",
        min_value=0.01,
        max_value=1,
        required=False,
        widget=forms.NumberInput(attrs={"step": "0.01"}),
        help_text="Tau says how far two rankings of the systems agree: 1 is the same ranking, 0 no relation. Here it "
        "compares the current ranking with rankings by other draws of questions. No more batches once tau is at least "
        "this with 95 % confidence; 0.9 is a common target. Leave empty for none.",
    )
    target_measure = forms.ChoiceField(
        label="Measure of the target",
        choices=TargetMeasure.choices,
        help_text="The measure that ranks the systems for tau.",
    )

    @classmethod
    def of(cls, campaign: Campaign, data: Any = None) -> StoppingForm:
        """Return the form with the limits that the campaign has."""
        return cls(data, initial={name: getattr(campaign, name) for name in cls.base_fields})


class AuditForm(PageForm):
    percent = forms.FloatField(
        label="Percent of the filtered triples",
        min_value=0.01,
        max_value=100,
        initial=5,
        help_text="Of each filter, at least one triple. Triples drawn before are counted.",
    )
    seed = forms.IntegerField(label="Seed of the draw", min_value=0, max_value=LARGEST_SEED, initial=0)
