"""Qrels: a versioned set of judgements, frozen here or imported; never changed once written."""

from django.conf import settings
from django.db import models

from evaluation.enums import QrelsOrigin
from pooling.models import Pool


class Qrels(models.Model):
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="qrels")
    name = models.SlugField(max_length=80)
    origin = models.CharField(max_length=10, choices=QrelsOrigin, default=QrelsOrigin.FROZEN)
    artifact = models.CharField(max_length=200, help_text="Parquet: head, relation, tail, state")
    sha256 = models.CharField(max_length=64)
    num_positive = models.PositiveIntegerField()
    num_negative = models.PositiveIntegerField()
    num_assumed_negative = models.PositiveIntegerField()
    num_unjudged = models.PositiveIntegerField()
    notes = models.JSONField(default=list, help_text="what an import left out or took otherwise: sentences")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "qrels"
        constraints = [
            models.UniqueConstraint(fields=["pool", "name"], name="qrels_name_once"),
            models.CheckConstraint(
                condition=models.Q(origin__in=QrelsOrigin.values), name="qrels_origin_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pool.name}/{self.name}"
