"""Forms of a pool that grows or is frozen."""

from __future__ import annotations

from typing import Any

from django import forms

from pooling.enums import PoolOrigin, SystemState
from pooling.forms.pools import SEED_FILE_BYTES
from pooling.models import Pool
from pooling.pools.kernels.seeds import STRATIFY
from pooling.runs.score import MOST_CANDIDATES


class GrowthForm(forms.Form):
    """What to add to a pool: depth, systems, seeds; what is left empty stays as it is."""

    use_required_attribute = False

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
    stratify = forms.ChoiceField(
        label="Stratify",
        required=False,
        choices=[(name, f"by {words}" if name else "no: any test triple") for name, words in STRATIFY.items()],
    )
    seed = forms.IntegerField(label="Seed of the sample", initial=42, min_value=0, required=False)
    seeds_file = forms.FileField(
        label="Seed file",
        required=False,
        help_text="Instead of a sample: TSV of head, relation, tail, all of test. Seeds that the pool has are skipped.",
    )

    def __init__(self, pool: Pool, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        systems = self.fields["systems"]
        assert isinstance(systems, forms.MultipleChoiceField)
        trained = pool.graph.systems.filter(state=SystemState.TRAINED, archived=False).order_by("id")
        names = trained.values_list("name", flat=True)
        systems.choices = [(name, name) for name in names if name not in pool.contributors]
        if not systems.choices:
            del self.fields["systems"]
        if pool.origin == PoolOrigin.IMPORTED:
            del self.fields["depth"]  # what its systems returned below is not here
        else:
            self.fields["depth"].help_text = f"More than {pool.depth}, the depth now."
            self.fields["depth"].widget.attrs["min"] = pool.depth + 1

    def clean_seeds_file(self) -> Any:
        file = self.cleaned_data["seeds_file"]
        if file is not None and file.size > SEED_FILE_BYTES:
            raise forms.ValidationError(
                f"The file has {file.size:,} bytes; at most {SEED_FILE_BYTES:,} can be sent here. "
                "Use extend_pool --seeds on the server instead."
            )
        return file


class FreezeForm(forms.Form):
    """Freezing has no way back, so it is said twice."""

    use_required_attribute = False

    sure = forms.BooleanField(
        label="I know that this cannot be undone",
        error_messages={"required": "Tick the box to freeze the pool: this cannot be undone."},
    )
