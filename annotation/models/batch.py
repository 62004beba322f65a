"""Batches: which triples were given to people when, and how they were chosen."""

from django.db import models

from annotation.enums import BatchOrigin
from annotation.models.campaign import Campaign


class Batch(models.Model):
    """Triples that became items together. Its items say how each was chosen: place, probability, arm."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="batches")
    number = models.PositiveIntegerField(help_text="1, 2, ... within the campaign")
    origin = models.CharField(max_length=10, choices=BatchOrigin)
    order = models.CharField(max_length=20, blank=True, help_text="name of the order of judging, if one chose")
    settings = models.JSONField(default=dict, help_text="of the order or the sample, its seed included")
    size = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "number"]
        verbose_name_plural = "batches"
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="batch_number_once"),
            models.CheckConstraint(condition=models.Q(origin__in=BatchOrigin.values), name="batch_origin_known"),
        ]

    def __str__(self) -> str:
        return f"batch {self.number} of {self.campaign}"
