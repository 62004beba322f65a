"""JSON of measures, evaluations, qrels and exports in the API, and of what is sent to it."""

from typing import Any

from django.urls import reverse
from rest_framework import serializers

from evaluation.labels.frozen import SETTLED
from evaluation.labels.import_qrels import FORMATS, THRESHOLDS
from evaluation.labels.qrels import STATE_NAMES
from evaluation.labels.terms import Creator
from evaluation.models import Export, Qrels, Terms
from evaluation.test_sets.files import ExportOptions
from pooling.api.serializers import JobData

Fields = serializers.Serializer[Any]


class MeasureData(Fields):
    """A row of the registry: evaluation/measures/registry.py."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field, not its label
    kind = serializers.CharField(help_text="micro: a mean over answers; macro: over questions.")
    k = serializers.IntegerField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    higher_is_better = serializers.BooleanField()
    description = serializers.CharField()
    formula = serializers.CharField()
    parameters = serializers.CharField()
    caution = serializers.CharField(allow_blank=True)
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment]  # a field, not where it is read


class CreatorData(Fields):
    name = serializers.CharField(max_length=200, help_text='People as "Family, Given".')
    orcid = serializers.CharField(max_length=40, allow_blank=True, default="", help_text="0000-0002-1825-0097")


class TermsData(serializers.ModelSerializer[Terms]):
    """A version of the terms of a test set."""

    creators = CreatorData(many=True)
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)

    class Meta:
        model = Terms
        fields = ("version", "licence", "citation", "creators", "url", "changed", "created_at", "created_by")


class TermsFields(Fields):
    """What may be said in terms; what is left out stays as it is."""

    licence = serializers.CharField(
        max_length=200, allow_blank=True, required=False, help_text="SPDX, LicenseRef-NAME, or other: and any text."
    )
    citation = serializers.CharField(max_length=2000, allow_blank=True, required=False)
    creators = CreatorData(many=True, required=False)
    url = serializers.URLField(max_length=500, allow_blank=True, required=False)

    def validate_creators(self, value: list[dict[str, str]]) -> list[Creator]:
        return [Creator(**one) for one in value]


class TermsInput(TermsFields):
    changed = serializers.CharField(max_length=500, help_text="What is new, in a sentence.")


class QrelsData(serializers.ModelSerializer[Qrels]):
    pool = serializers.CharField(source="pool.name")
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)
    licence = serializers.CharField(source="last_terms.licence")
    citation = serializers.CharField(source="last_terms.citation")
    creators = CreatorData(many=True, source="last_terms.creators")
    url = serializers.CharField(source="last_terms.url")
    terms_version = serializers.IntegerField(source="last_terms.version")

    class Meta:
        model = Qrels
        terms = ("licence", "citation", "creators", "url", "terms_version")
        counts = ("num_positive", "num_negative", "num_assumed_negative", "num_unjudged")
        fields = ("pool", "name", "origin", *counts, "notes", *terms, "systems", "sha256", "created_at", "created_by")


class JudgementData(Fields):
    id = serializers.IntegerField()
    head = serializers.CharField()
    relation = serializers.CharField()
    tail = serializers.CharField()
    state = serializers.ChoiceField(choices=list(STATE_NAMES.values()))
    settled = serializers.ChoiceField(choices=SETTLED, help_text="How it came to its state.")
    filter = serializers.CharField(
        allow_blank=True, help_text="The filter that took it, unless a label says more; empty: people judge it."
    )
    depth = serializers.IntegerField(help_text="The smallest rank at which a system found it.")
    decided_at = serializers.DateTimeField(allow_null=True)


class FreezeInput(TermsFields):
    name = serializers.SlugField(max_length=80, help_text="Used once and for all.")


class ExportData(serializers.ModelSerializer[Export]):
    pool = serializers.CharField(source="qrels.pool.name")
    qrels = serializers.CharField(source="qrels.name")
    is_written = serializers.BooleanField()
    download = serializers.SerializerMethodField(help_text="Address of the zip file; null while it is not written.")

    class Meta:
        model = Export
        file = ("is_written", "download", "sha256", "num_bytes", "created_at")
        fields = ("id", "pool", "qrels", "terms_version", *ExportOptions._fields, *file)

    def get_download(self, export: Export) -> str | None:
        path = reverse("api-export-download", args=[export.pk])
        return self.context["request"].build_absolute_uri(path) if export.is_written else None


class ExportInput(Fields):
    qrels = serializers.CharField(max_length=80, help_text="Name of frozen qrels of the pool.")
    with_runs = serializers.BooleanField(default=True, help_text="What systems returned, and their measures.")
    with_evidence = serializers.BooleanField(default=True, help_text="Addresses that people gave as evidence.")
    positives_only = serializers.BooleanField(default=False)
    strict = serializers.BooleanField(default=False, help_text="Assumed negatives are -1 in TREC qrels, not 0.")


class RequestedData(Fields):
    export = ExportData()
    job = JobData(allow_null=True, help_text="Null: the zip file is there already.")


class ImportQrelsInput(Fields):
    name = serializers.SlugField(max_length=80, help_text="Used once and for all.")
    format = serializers.ChoiceField(choices=list(FORMATS), default="tsv")
    threshold = serializers.ChoiceField(
        choices=list(THRESHOLDS),
        allow_null=True,
        default=None,
        help_text="The labels are grades from 0 to 3, and this grade or more is positive.",
    )
    file = serializers.FileField(help_text="UTF-8, plain or .gz.")


class RestoreInput(Fields):
    archive = serializers.FileField(help_text="The zip file of a test set, as a download of an export is.")
    pool = serializers.SlugField(max_length=80, default="", allow_blank=True, help_text="Its name; empty: as it was.")
    graph = serializers.SlugField(max_length=80, default="", allow_blank=True, help_text="Its name; empty: as it was.")


class FamilyData(Fields):
    """A family of seeds: the systems that the chosen one stands for."""

    seeds = serializers.ListField(
        child=serializers.CharField(), help_text="Names of its systems, the chosen one first."
    )
    mean = serializers.DictField(child=serializers.FloatField(allow_null=True), help_text="By measure, over the seeds.")
    sd = serializers.DictField(child=serializers.FloatField(allow_null=True), help_text="Divided by the seeds less 1.")


class ComparedData(Fields):
    """What systems are compared on: the questions that all of them were asked."""

    systems = serializers.ListField(child=serializers.CharField())
    questions = serializers.IntegerField(help_text="That all of these systems were asked.")
    of = serializers.IntegerField(help_text="Questions with an answer under these labels.")
    lacking = serializers.DictField(
        child=serializers.IntegerField(), help_text="Of these systems: how many of the questions each was not asked."
    )
    dropped = serializers.DictField(
        child=serializers.IntegerField(), help_text="Systems left out, asked less than half: likewise."
    )
    unasked = serializers.ListField(child=serializers.CharField(), help_text="Systems asked no question of the pool.")


class EvaluationData(Fields):
    """What evaluate --json prints, and what its values are of."""

    labels = serializers.CharField()
    name = serializers.CharField(help_text="The label set in words.")
    questions = serializers.CharField()
    assumed_is_judged = serializers.BooleanField()
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="Triples by state.")
    n = serializers.DictField(child=serializers.IntegerField(), help_text="Answers or questions, by measure.")
    systems = serializers.DictField(
        child=serializers.DictField(child=serializers.FloatField(allow_null=True)),
        help_text="System to measure to value; null: undefined, for its reason.",
    )
    reasons = serializers.DictField(child=serializers.DictField(child=serializers.CharField()))
    left_out = serializers.ListField(child=serializers.CharField(), help_text="Systems without all ranks of this pool.")
    compared = ComparedData(help_text="On which questions the systems are compared.")
    families = serializers.DictField(
        child=FamilyData(), required=False, help_text="With seeds=families: chosen system to its family of seeds."
    )
    notes = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="With seeds=families: which systems are no family."
    )


class PartData(Fields):
    part = serializers.CharField()
    computed = serializers.BooleanField()
    is_old = serializers.BooleanField(help_text="Computed before the labels were what they are.")
    computed_at = serializers.DateTimeField(allow_null=True)
    compared = ComparedData(allow_null=True, help_text="Null: it is not computed.")
    sections = serializers.ListField(child=serializers.DictField())


class AnalysisData(Fields):
    pool = serializers.CharField()
    analysis = serializers.CharField()
    settings = serializers.DictField()
    parts = PartData(many=True)


class PartInput(Fields):
    part = serializers.CharField(max_length=80)


class AnalysisRow(Fields):
    key = serializers.CharField()
    title = serializers.CharField()
    lead = serializers.CharField()
    settings = serializers.ListField(child=serializers.CharField(), help_text="Parameters that it takes.")
    parts = serializers.ListField(child=serializers.CharField())
    by_job = serializers.ListField(
        child=serializers.CharField(), help_text="Parts that a job computes when it is asked for them."
    )


class _WholeList(Fields):
    """One page, in the form of all lists."""

    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)


class MeasureList(_WholeList):
    results = MeasureData(many=True)


class AnalysisList(_WholeList):
    results = AnalysisRow(many=True)
