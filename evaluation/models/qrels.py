"""Qrels: a frozen, versioned set of judgements; never changed once written."""

from django.conf import settings
from django.db import models

from pooling.models import Pool


class Qrels(models.Model):
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="qrels")
    name = models.SlugField(max_length=80)
    artifact = models.CharField(max_length=200, help_text="Parquet: head, relation, tail, state, origin")
    sha256 = models.CharField(max_length=64)
    num_positive = models.PositiveIntegerField()
    num_negative = models.PositiveIntegerField()
    num_assumed_negative = models.PositiveIntegerField()
    num_unjudged = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "qrels"
        constraints = [models.UniqueConstraint(fields=["pool", "name"], name="qrels_name_once")]

    def __str__(self) -> str:
        return f"{self.pool.name}/{self.name}"
