"""Forms of the pages that import and freeze qrels."""

from django import forms

from core.forms.fields import PageForm, SmallFileField

MOST_BYTES = 20_000_000


class ImportQrelsForm(PageForm):
    """Ask for a file of judgements made elsewhere, and the name to keep it under."""

    name = forms.SlugField(label="Name", max_length=80, help_text="Letters, digits, - and _; used once and for all.")
    format = forms.ChoiceField(
        label="Format",
        choices=[
            ("tsv", "TSV: head, relation, tail, label"),
            ("trec", "TREC qrels: question id, 0, entity, relevance"),
        ],
    )
    file = SmallFileField(
        most=MOST_BYTES,
        instead="Use the command on the server instead.",
        label="File",
        help_text="UTF-8, plain or .gz, at most 20 MB. Labels: 1, 0, -1, or Y, N, ?, or positive, negative, "
        "assumed_negative, unjudged.",
        widget=forms.FileInput(attrs={"accept": ".tsv,.txt,.qrels,.gz"}),
        error_messages={"required": "Choose a file.", "empty": "The file is empty."},
    )


class FreezeQrelsForm(forms.Form):
    """Ask for the name, licence and citation of qrels that are to be frozen."""

    name = forms.SlugField(max_length=80, label="Name: letters, digits, - and _, used once and for all")
    licence = forms.CharField(
        max_length=200,
        required=False,
        label="Licence of the test set",
        help_text="As in CC-BY-4.0, or its address. It is frozen with the labels.",
    )
    citation = forms.CharField(
        max_length=2000,
        required=False,
        label="How to cite it",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="A line or BibTeX. It is frozen too.",
    )
