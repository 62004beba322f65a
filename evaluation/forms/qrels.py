"""Forms of the evaluation pages: they check shape; what the domain refuses is shown at the form as well."""

from __future__ import annotations

from typing import Any

from django import forms

MOST_BYTES = 20_000_000


class ImportQrelsForm(forms.Form):
    """A file of judgements made elsewhere, and the name under which it is kept."""

    use_required_attribute = False

    name = forms.SlugField(label="Name", max_length=80, help_text="Letters, digits, - and _; used once and for all.")
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
