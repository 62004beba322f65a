"""Forms of the pages that import a judged test set and export one."""

from collections.abc import Mapping
from typing import Any

from django import forms

from evaluation.forms.qrels import ImportQrelsForm
from evaluation.test_sets.content import ExportOptions
from pooling.models import Graph


class ImportTestSetForm(ImportQrelsForm):
    """Ask for a file of judgements to make a pool of, its graph, and the seeds where they are another file."""

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


class ExportOptionsForm(forms.Form):
    """Ask what an archive of a test set leaves out."""

    without_runs = forms.BooleanField(required=False, label="without runs and their measures")
    without_evidence = forms.BooleanField(required=False, label="without links of evidence")
    positives_only = forms.BooleanField(required=False, label="positives only")
    strict = forms.BooleanField(required=False, label="strict: assumed negatives -1 in TREC qrels")

    @classmethod
    def options(cls, data: Mapping[str, Any]) -> ExportOptions:
        """Return the options that the boxes ticked in a request ask for."""
        form = cls(data)
        form.full_clean()
        ticked = form.cleaned_data
        return ExportOptions(
            not ticked["without_runs"], not ticked["without_evidence"], ticked["positives_only"], ticked["strict"]
        )
