"""Store computed figures of a pool (sections of a page, an overview) until labels or ranks change."""

from django.db import models
from django.utils import timezone

from pooling.models import Pool


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
