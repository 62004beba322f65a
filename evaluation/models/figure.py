"""A computed figure (table or curve) of a pool, kept until the labels or ranks that it rests on change."""

from django.db import models

from pooling.models import Pool


class Figure(models.Model):
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="figures")
    key = models.CharField(
        max_length=200, help_text="what was computed: metrics:current, stability:current, …"
    )
    version = models.CharField(
        max_length=200, help_text="version of labels and ranks that it was computed from"
    )
    content = models.JSONField()
    seconds = models.FloatField(default=0)
    computed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool", "key"], name="figure_key_once")]

    def __str__(self) -> str:
        return f"{self.key} of {self.pool}"
