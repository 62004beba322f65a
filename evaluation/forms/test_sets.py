"""Forms that import and freeze qrels, import a judged test set, and export one."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from core.errors import UserError
from core.forms import NameField, PageForm, SmallFileField
from evaluation.labels.import_qrels import THRESHOLDS
from evaluation.labels.licences import check_licence
from evaluation.labels.terms import Creator, checked_terms, read_creators
from evaluation.test_sets.files import ExportOptions
from pooling.forms.pools import graph_field

MOST_BYTES = 20_000_000
LICENCE_HELP = "An SPDX identifier such as CC-BY-4.0, LicenseRef-NAME for terms of your own, or other: and any text."
FORMATS = (("tsv", "TSV: head, relation, tail, label"), ("trec", "TREC qrels: question id, 0, entity, relevance"))


AS_IT_WAS = "Empty: the name that it had. Letters, digits, - and _."
NO_GRADES = ("", "no: 1 is positive, 0 negative")


class ImportQrelsForm(PageForm):
    """Ask for a file of judgements made elsewhere, and the name to keep it under."""

    name = NameField(label="Name", max_length=80, help_text="Letters, digits, - and _. A name can be used only once.")
    format = forms.ChoiceField(label="Format", choices=FORMATS)
    file = SmallFileField(
        most=MOST_BYTES,
        instead="Use the command on the server instead.",
        label="File",
        help_text="UTF-8, plain or .gz, at most 20 MB. Labels: 1, 0, -1, or Y, N, ?, or positive, negative, "
        "assumed_negative, unjudged.",
        widget=forms.FileInput(attrs={"accept": ".tsv,.txt,.qrels,.gz"}),
        error_messages={"required": "Choose a file.", "empty": "The file is empty."},
    )
    threshold = forms.TypedChoiceField(
        label="Grades",
        choices=(NO_GRADES, *((n, f"0 to 3, positive from {n}") for n in THRESHOLDS)),
        coerce=int,
        empty_value=None,
        required=False,
        help_text="Whether the labels are grades of relevance, and which count as positive.",
    )


class TermsForm(PageForm):
    """Ask for licence, citation, creators and address of a test set."""

    licence = forms.CharField(max_length=200, required=False, label="Licence of the test set", help_text=LICENCE_HELP)
    creators = forms.CharField(
        max_length=4000,
        required=False,
        label="Creators",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One per line, people as Family, Given, then the ORCID iD if there is one: "
        "Lovelace, Ada, 0000-0002-1825-0097.",
    )
    citation = forms.CharField(
        max_length=2000,
        required=False,
        label="How to cite it",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="A line or BibTeX.",
    )
    url = forms.URLField(
        assume_scheme="https",
        max_length=500,
        required=False,
        label="Address of the test set",
        help_text="Where others find it.",
    )

    def clean_licence(self) -> str:
        try:
            return check_licence(self.cleaned_data["licence"])
        except UserError as error:
            raise ValidationError(str(error)) from None

    def clean_creators(self) -> list[Creator]:
        creators = read_creators(self.cleaned_data["creators"])
        try:
            checked_terms({"creators": creators})
        except UserError as error:
            raise ValidationError(str(error)) from None
        return creators


class FreezeQrelsForm(TermsForm):
    """Ask for the name and the terms of qrels that are to be frozen."""

    name = NameField(max_length=80, help_text="Letters, digits, - and _. A name can be used only once.")
    field_order = ["name"]


class EditTermsForm(TermsForm):
    """Ask for a new version of the terms, and what is new in it."""

    changed = forms.CharField(
        max_length=500, label="What you changed", help_text="One sentence; it is part of the card, with the date."
    )


class ImportTestSetForm(ImportQrelsForm):
    """Ask for a file of judgements to make a pool of, its graph, and the seeds where they are another file."""

    graph = graph_field()
    seeds = forms.FileField(
        label="Seed triples",
        required=False,
        help_text="TSV head, relation, tail: the test triples that were sampled. Left out: the test triples that the "
        "file calls positive.",
        widget=forms.FileInput(attrs={"accept": ".tsv,.txt,.gz"}),
        error_messages={"empty": "The file is empty."},
    )
    field_order = ["graph", "name", "format", "file", "threshold", "seeds"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].help_text = "Of the new pool and of its judgements. Letters, digits, - and _."


class RestoreTestSetForm(PageForm):
    """Ask for the zip file of an exported test set, and for other names where its own are taken."""

    archive = SmallFileField(
        most=MOST_BYTES,
        instead="Use import_test_set on the server instead.",
        label="Zip file",
        help_text="As the page Export writes it, at most 20 MB.",
        widget=forms.FileInput(attrs={"accept": ".zip"}),
        error_messages={"required": "Choose a file.", "empty": "The file is empty."},
    )
    pool_name = NameField(label="Name of the pool", max_length=80, required=False, help_text=AS_IT_WAS)
    graph_name = NameField(label="Name of the graph", max_length=80, required=False, help_text=AS_IT_WAS)


class ExportOptionsForm(forms.Form):
    """Ask what an archive of a test set leaves out."""

    without_runs = forms.BooleanField(required=False, label="leave out runs and their measures")
    without_evidence = forms.BooleanField(required=False, label="leave out links of evidence")
    positives_only = forms.BooleanField(required=False, label="only positives")
    strict = forms.BooleanField(required=False, label="count assumed negatives as unjudged in the TREC qrels (strict)")

    @classmethod
    def options(cls, data: Mapping[str, Any]) -> ExportOptions:
        """Return the options that the boxes ticked in a request ask for."""
        form = cls(data)
        form.full_clean()
        without_runs, without_evidence, positives_only, strict = (form.cleaned_data[name] for name in form.fields)
        return ExportOptions(not without_runs, not without_evidence, positives_only, strict)
