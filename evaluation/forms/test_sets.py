"""The form that takes a judged test set from elsewhere."""

from __future__ import annotations

from typing import Any

from django import forms

from evaluation.forms.qrels import ImportQrelsForm
from pooling.models import Graph


class ImportTestSetForm(ImportQrelsForm):
    """The same, for a pool that is made of the file; its seeds may be a file of their own."""

    graph = forms.ModelChoiceField(
        Graph.objects.none(),
        label="Graph",
        to_field_name="name",
        empty_label=None,
        error_messages={"invalid_choice": "Choose a graph of the list."},
    )
    seeds = forms.FileField(
        label="Seed triples",
        required=False,
        help_text="TSV head, relation, tail: the test triples that were sampled. Left out: the test triples that the "
        "file calls positive.",
        widget=forms.FileInput(attrs={"accept": ".tsv,.txt,.gz"}),
        error_messages={"empty": "The file is empty."},
    )
    field_order = ["graph", "name", "format", "file", "seeds"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["graph"].queryset = Graph.objects.filter(archived=False).order_by("name")  # type: ignore[attr-defined]
        self.fields["name"].help_text = "Of the new pool and of its judgements. Letters, digits, - and _."
