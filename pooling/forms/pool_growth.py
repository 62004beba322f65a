"""Forms of the pages that extend and freeze a pool."""

from typing import Any

from django import forms

from core.forms import PageForm, SmallFileField, set_choices
from pooling.enums import PoolOrigin
from pooling.forms.pools import SEED_FILE_BYTES, STRATIFIED_BY, trained_systems
from pooling.models import Pool
from pooling.runs.score import MOST_CANDIDATES


class GrowthForm(PageForm):
    """Ask for the depth, systems and seeds to add to a pool; an empty field changes nothing."""

    depth = forms.IntegerField(label="New depth", required=False, max_value=MOST_CANDIDATES)
    systems = forms.MultipleChoiceField(label="Systems to add", required=False, widget=forms.CheckboxSelectMultiple)
    sample = forms.FloatField(
        label="Share of test triples to add",
        min_value=0,
        max_value=1,
        required=False,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Of all test triples; drawn from those that are no seeds yet.",
    )
    count = forms.IntegerField(label="Number of seeds to add", min_value=1, required=False)
    stratify = forms.ChoiceField(label="Stratify", required=False, choices=STRATIFIED_BY)
    seed = forms.IntegerField(label="Seed of the sample", initial=42, min_value=0, required=False)
    seeds_file = SmallFileField(
        most=SEED_FILE_BYTES,
        instead="Use extend_pool --seeds on the server instead.",
        label="Seed file",
        required=False,
        help_text="Instead of a sample: TSV of head, relation, tail, all of test. Seeds that the pool has are skipped.",
    )

    def __init__(self, pool: Pool, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [name for _, name in trained_systems(pool.graph) if name not in pool.contributors]
        if names:
            set_choices(self, "systems", zip(names, names, strict=True))
        else:
            del self.fields["systems"]
        if pool.origin == PoolOrigin.IMPORTED:
            del self.fields["depth"]  # no candidates below its depth were imported
        else:
            self.fields["depth"].help_text = f"More than {pool.depth}, the depth now."
            self.fields["depth"].widget.attrs["min"] = pool.depth + 1


class FreezeForm(PageForm):
    """Ask for a tick before a pool is frozen, since that cannot be undone."""

    sure = forms.BooleanField(
        label="I know that this cannot be undone",
        error_messages={"required": "Tick the box to freeze the pool: this cannot be undone."},
    )
