"""Forms of the evaluation pages: they check shape; what the domain refuses is shown at the form as well."""

from __future__ import annotations

from typing import Any

from django import forms

from pooling.models import Graph

MOST_BYTES = 20_000_000


class ImportQrelsForm(forms.Form):
    """A file of judgements made elsewhere, and the name under which it is kept."""

    use_required_attribute = False

    name = forms.SlugField(
        label="Name", max_length=80, help_text="Letters, digits, - and _; used once and for all."
    )
    format = forms.ChoiceField(
        label="Format",
        choices=[
            ("tsv", "TSV: head, relation, tail, label"),
            ("trec", "TREC qrels: question id, 0, entity, relevance"),
        ],
    )
    file = forms.FileField(
        label="File",
        help_text="UTF-8, plain or .gz, at most 20 MB. Labels: 1, 0, -1, or Y, N, ?, or positive, negative, "
        "assumed_negative, unjudged.",
        widget=forms.FileInput(attrs={"accept": ".tsv,.txt,.qrels,.gz"}),
        error_messages={"required": "Choose a file.", "empty": "The file is empty."},
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError(
                f"The file has {file.size:,} bytes; at most {MOST_BYTES:,} can be sent here. "
                "Use the command on the server instead."
            )
        return file


class ImportTestSetForm(ImportQrelsForm):
    """The same, for a pool that is made of the file; its seeds may be a file of their own."""

    graph = forms.ModelChoiceField(
        Graph.objects.none(), label="Graph", to_field_name="name", empty_label=None,
        error_messages={"invalid_choice": "Choose a graph of the list."},
    )  # fmt: skip
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


class TypedNameForm(forms.Form):
    """Destructive steps ask by name."""

    use_required_attribute = False

    name = forms.CharField(max_length=200, required=False)

    def __init__(self, *args: Any, expected: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.expected = expected
        self.fields["name"].label = f"To delete it for good, type its name: {expected}"
        self.fields["name"].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}

    def clean_name(self) -> str:
        if self.cleaned_data["name"] != self.expected:
            raise forms.ValidationError(f"Type {self.expected} to delete it; nothing was deleted.")
        return self.expected
