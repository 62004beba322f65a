"""Forms of the pooling pages: they check shape; what the domain refuses is shown at the form as well."""

from __future__ import annotations

import re
from typing import Any

from django import forms

from pooling.enums import SystemState
from pooling.kernels.filters import FILTERS
from pooling.models import Graph
from pooling.systems import SYSTEMS

SEED_FILE_BYTES = 5_000_000
DEVICES = [("auto", "auto: a GPU where there is one"), ("cpu", "CPU"), ("cuda", "GPU")]


class TrainForm(forms.Form):
    """Which systems to train, and with what settings."""

    use_required_attribute = False

    kinds = forms.MultipleChoiceField(
        label="Systems",
        choices=[(spec.name, spec.label) for spec in SYSTEMS.values()],
        initial=list(SYSTEMS),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one system."},
    )
    seeds = forms.IntegerField(
        label="Seeds",
        initial=1,
        min_value=1,
        max_value=20,
        help_text="Systems of each kind; each starts elsewhere.",
    )
    device = forms.ChoiceField(label="Device", choices=DEVICES, initial="auto")
    settings = forms.CharField(
        label="Settings",
        required=False,
        widget=forms.Textarea(
            attrs={"rows": 3, "placeholder": "epochs=40\nembedding_dim=128", "spellcheck": "false"}
        ),
        help_text="One key=value a line; what is left out fits the size of the graph.",
    )

    def clean_settings(self) -> dict[str, str]:
        settings: dict[str, str] = {}
        for number, line in enumerate(self.cleaned_data["settings"].splitlines(), 1):
            if not line.strip():
                continue
            key, equals, value = (part.strip() for part in line.partition("="))
            if not (key and equals and value):
                raise forms.ValidationError(f"Line {number} is not key=value: {line.strip()}")
            if key in settings:
                raise forms.ValidationError(f"Line {number} gives {key} a second time.")
            settings[key] = value
        return settings


class PoolForm(forms.Form):
    """Where a pool comes from: seeds, systems, depth, filters."""

    use_required_attribute = False

    name = forms.SlugField(
        label="Name", max_length=80, help_text="Letters, digits, - and _. It becomes part of the address."
    )
    systems = forms.MultipleChoiceField(
        label="Systems",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one trained system."},
    )
    depth = forms.IntegerField(
        label="Depth",
        initial=10,
        min_value=1,
        max_value=100,
        help_text="Candidates taken from each run per question.",
    )
    sample = forms.FloatField(
        label="Share of test triples",
        initial=0.05,
        min_value=0,
        max_value=1,
        required=False,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Seed triples drawn from test: 0.05 is one in twenty. Not used with a seed file.",
    )
    seed = forms.IntegerField(label="Seed of the sample", initial=42, min_value=0, required=False)
    seeds_file = forms.FileField(
        label="Seed file",
        required=False,
        help_text="Instead of a sample: TSV of head, relation, tail, all of test.",
    )
    filters = forms.MultipleChoiceField(
        label="Filters",
        required=False,
        choices=[(f.name, f.label) for f in FILTERS.values()],
        initial=list(FILTERS),
        widget=forms.CheckboxSelectMultiple,
        help_text="What a filter takes is assumed negative, and no person is asked.",
    )

    def __init__(self, graph: Graph, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = list(
            graph.systems.filter(state=SystemState.TRAINED).order_by("id").values_list("name", flat=True)
        )
        systems = self.fields["systems"]
        assert isinstance(systems, forms.MultipleChoiceField)
        systems.choices = [(name, name) for name in names]
        # one seed of each kind unless more are asked for: a pool is deep enough with one
        systems.initial = [name for name in names if not re.search(r"-s\d+$", name)] or names

    def clean_seeds_file(self) -> Any:
        file = self.cleaned_data["seeds_file"]
        if file is not None and file.size > SEED_FILE_BYTES:
            raise forms.ValidationError(
                f"The file has {file.size:,} bytes; at most {SEED_FILE_BYTES:,} can be sent here. "
                "Use build_pool --seeds on the server instead."
            )
        return file

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("seeds_file") and not cleaned.get("sample") and "sample" not in self.errors:
            self.add_error("sample", "Give a share above 0, or a seed file.")
        return cleaned
