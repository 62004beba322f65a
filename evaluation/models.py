"""Store qrels, exports, computed figures and open-world studies."""

import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone

from core.clock import Stamp
from evaluation.enums import QrelsOrigin
from pooling.models import Graph, Pool, System


def new_salt() -> str:
    return secrets.token_hex(16)


class Qrels(models.Model):
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="qrels")
    name = models.SlugField(max_length=80)
    origin = models.CharField(max_length=10, choices=QrelsOrigin, default=QrelsOrigin.FROZEN)
    artifact = models.CharField(max_length=200, help_text="Parquet: docs/formats.md")
    sha256 = models.CharField(max_length=64)
    num_positive = models.PositiveIntegerField()
    num_negative = models.PositiveIntegerField()
    num_assumed_negative = models.PositiveIntegerField()
    num_unjudged = models.PositiveIntegerField()
    notes = models.JSONField(default=list, help_text="what an import left out or took otherwise: sentences")
    systems = models.JSONField(
        null=True, help_text="names of the systems that had complete runs when it was frozen; none: not known"
    )
    salt = models.CharField(
        max_length=32, default=new_salt, editable=False, help_text="of the pseudonyms in its exports; kept secret"
    )
    created_at = Stamp(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "qrels"
        constraints = [
            models.UniqueConstraint(fields=["pool", "name"], name="qrels_name_once"),
            models.CheckConstraint(condition=models.Q(origin__in=QrelsOrigin.values), name="qrels_origin_known"),
        ]

    def __str__(self) -> str:
        return f"{self.pool.name}/{self.name}"

    @property
    def last_terms(self) -> "Terms":
        """Return the last version of the terms; terms that say nothing where there are none."""
        versions = self.terms.all()  # prefetched by lists
        return max(versions, key=lambda one: one.version, default=Terms(version=1, created_at=self.created_at))

    @property
    def counts_in_words(self) -> str:
        """Say how many triples are positive, negative, assumed negative and unjudged."""
        return (
            f"{self.num_positive:,} positive, {self.num_negative:,} negative, "
            f"{self.num_assumed_negative:,} assumed negative, {self.num_unjudged:,} unjudged"
        )


class Terms(models.Model):
    """Store one version of what a test set says of its licence, citation and creators; the last one counts."""

    qrels = models.ForeignKey(Qrels, on_delete=models.CASCADE, related_name="terms")
    version = models.PositiveSmallIntegerField(help_text="from 1, which was frozen with the qrels")
    licence = models.CharField(max_length=200, blank=True, help_text="evaluation/labels/licences.py")
    citation = models.TextField(blank=True, max_length=2000, help_text="how the test set is to be cited")
    creators = models.JSONField(default=list, blank=True, help_text='list of {"name", "orcid"}')
    url = models.URLField(blank=True, max_length=500, help_text="where the test set is found")
    changed = models.CharField(blank=True, max_length=500, help_text="what is new in this version; of the first empty")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-version"]
        verbose_name_plural = "terms"
        constraints = [
            models.UniqueConstraint(fields=["qrels", "version"], name="terms_version_once"),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="terms_version_from_1"),
        ]

    def __str__(self) -> str:
        return f"terms {self.version} of {self.qrels}"


class Export(models.Model):
    qrels = models.ForeignKey(Qrels, on_delete=models.CASCADE, related_name="exports")
    terms_version = models.PositiveSmallIntegerField(default=1, help_text="of the terms on its card")
    with_runs = models.BooleanField(default=True, help_text="what systems returned, and their measures")
    with_evidence = models.BooleanField(default=True, help_text="addresses that people gave as evidence")
    positives_only = models.BooleanField(default=False, help_text="nothing of triples that are not positive")
    strict = models.BooleanField(default=False, help_text="assumed negatives are -1 in the TREC qrels, not 0")
    artifact = models.CharField(max_length=200, blank=True, help_text="zip")
    sha256 = models.CharField(max_length=64, blank=True, help_text="of the archive; empty: not written yet")
    num_bytes = models.PositiveBigIntegerField(default=0)
    created_at = Stamp(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["qrels", "terms_version", "with_runs", "with_evidence", "positives_only", "strict"],
                name="export_of_options_once",
            )
        ]

    def __str__(self) -> str:
        return f"export {self.pk} of {self.qrels}"

    @property
    def is_written(self) -> bool:
        return self.sha256 != ""


class Figure(models.Model):
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="figures")
    key = models.CharField(max_length=200, help_text="what was computed, with its settings")
    version = models.CharField(
        max_length=200, blank=True, help_text="version of labels and ranks that it was computed from; empty: not yet"
    )
    content = models.JSONField()
    heavy = models.BooleanField(default=False, help_text="a job computes it")
    seconds = models.FloatField(default=0)
    computed_at = models.DateTimeField(default=timezone.now)
    claimed_until = models.DateTimeField(null=True, blank=True, help_text="somebody is computing it")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool", "key"], name="figure_key_once")]
        indexes = [models.Index(fields=["pool", "heavy", "computed_at"])]

    def __str__(self) -> str:
        return f"{self.key} of {self.pool}"


class Study(models.Model):
    name = models.SlugField(max_length=60, unique=True)
    options = models.JSONField(help_text="what it was asked for; evaluation/open_world/study.py, StudyOptions")
    created_at = Stamp(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.name


class StudyRun(models.Model):
    """Store one system on the graph of one density; the ranks of its checkpoints are a file."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="runs")
    graph = models.ForeignKey(Graph, on_delete=models.PROTECT, related_name="study_runs")
    system = models.OneToOneField(System, on_delete=models.PROTECT, related_name="study_run")
    density = models.FloatField()
    artifact = models.CharField(max_length=200, help_text="npz: open answers, and their positions at each checkpoint")
    sha256 = models.CharField(max_length=64, blank=True, help_text="of the whole file; empty: not finished")
    checkpoints = models.PositiveIntegerField(default=0, help_text="evaluated so far")

    class Meta:
        ordering = ["study", "-density", "id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(density__gt=0, density__lte=1), name="study_density_within_0_and_1"
            )
        ]

    def __str__(self) -> str:
        return f"{self.study}/{self.system}"
