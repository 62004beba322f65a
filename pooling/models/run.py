"""Define runs: the candidates that a system returned, and the rank rows that every evaluation reads."""

from typing import Any

from django.db import models

from core.clock import Stamp
from pooling.models.system import System


class Published(models.Manager[Any]):
    """Leave out the runs of private systems."""

    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().filter(system__private=False)


class Run(models.Model):
    system = models.OneToOneField(System, on_delete=models.CASCADE, related_name="run")
    artifact = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64, help_text="of run.json, which holds those of the blocks")
    depth = models.PositiveIntegerField(help_text="candidates kept for each question")
    num_questions = models.PositiveIntegerField(default=0, help_text="questions with stored candidates")
    num_rank_rows = models.PositiveBigIntegerField(default=0)
    seconds = models.FloatField(default=0)
    updated_at = Stamp(auto_now=True)

    objects = Published()
    every = models.Manager["Run"]()  # private ones too

    def __str__(self) -> str:
        return f"run of {self.system}"
