"""Store qrels: a versioned set of judgements, frozen here or imported; never changed once written."""

import secrets

from django.conf import settings
from django.db import models

from evaluation.enums import QrelsOrigin
from pooling.models import Pool


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
    licence = models.CharField(max_length=200, blank=True, help_text="of the test set; whoever freezes names it")
    citation = models.TextField(blank=True, max_length=2000, help_text="how the test set is to be cited")
    systems = models.JSONField(
        null=True, help_text="names of the systems that had complete runs when it was frozen; none: not known"
    )
    salt = models.CharField(
        max_length=32, default=new_salt, editable=False, help_text="of the pseudonyms in its exports; kept secret"
    )
    created_at = models.DateTimeField(auto_now_add=True)
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
    def counts_in_words(self) -> str:
        """Say how many triples are positive, negative, assumed negative and unjudged."""
        return (
            f"{self.num_positive:,} positive, {self.num_negative:,} negative, "
            f"{self.num_assumed_negative:,} assumed negative, {self.num_unjudged:,} unjudged"
        )
