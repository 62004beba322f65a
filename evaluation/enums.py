"""Closed lists of the evaluation app."""

from django.db import models


class QrelsOrigin(models.TextChoices):
    FROZEN = "frozen", "frozen"  # the judgements of one moment of the pool
    IMPORTED = "imported", "imported"  # a file, made elsewhere
