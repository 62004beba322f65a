"""Define systems: a model with its settings and seed."""

from typing import Any

from django.contrib.auth.models import User
from django.db import models
from django.urls import reverse

from core.clock import Stamp
from pooling.enums import SystemState
from pooling.models.graph import Graph

IMPORTED = "imported"  # kind of a system that was trained elsewhere: only its run is known

PILLS = {
    SystemState.TRAINED: "done",
    SystemState.TRAINING: "running",
    SystemState.FAILED: "failed",
    SystemState.CANCELLED: "cancelled",
}


class Published(models.Manager[Any]):
    """Leave out private runs, so that no list, form, table or figure can show one by mistake."""

    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().filter(private=False)


class System(models.Model):
    graph = models.ForeignKey(Graph, on_delete=models.CASCADE, related_name="systems")
    name = models.SlugField(max_length=80, help_text="unique in its graph: rotate, rotate-s1")
    kind = models.CharField(max_length=40, help_text="name in the registry of systems")
    seed = models.PositiveIntegerField(default=0)
    settings = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=SystemState, default=SystemState.WAITING)
    artifact = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64, blank=True, help_text="of the best checkpoint")
    device = models.CharField(max_length=40, blank=True)
    epochs_done = models.PositiveIntegerField(default=0)
    best_epoch = models.PositiveIntegerField(default=0)
    validation_mrr = models.FloatField(null=True, blank=True)
    train_seconds = models.FloatField(default=0)
    peak_bytes = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="most memory held while training: on a GPU that, else the worker's"
    )
    note = models.CharField(max_length=300, blank=True, help_text="what is unusual about its training")
    best_of_seeds = models.BooleanField(
        default=False, help_text="one of several seeds, of which the best stays in the lists"
    )
    archived = models.BooleanField(default=False, help_text="in no list and no new pool; pools keep it")
    owner = models.ForeignKey(
        User,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="who brought its run; empty for systems of the site",
    )
    private = models.BooleanField(default=False, help_text="only its owner and managers see its run")
    history = models.JSONField(default=list, help_text="one entry an epoch: epoch, loss, validation_mrr")
    created_at = Stamp(auto_now_add=True)

    objects = Published()
    every = models.Manager["System"]()  # private ones too: for acts of their owner and for names that are taken

    class Meta:
        ordering = ["graph", "id"]
        constraints = [
            models.UniqueConstraint(fields=["graph", "name"], name="system_name_once"),
            models.CheckConstraint(condition=models.Q(state__in=SystemState.values), name="system_state_known"),
            models.CheckConstraint(
                condition=models.Q(private=False) | models.Q(kind=IMPORTED), name="system_private_is_imported"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.graph.name}/{self.name}"

    def get_absolute_url(self) -> str:
        return reverse("system", args=[self.graph.name, self.name])

    @property
    def pill(self) -> str:
        """Return how the pill of the state looks; empty while the system waits."""
        return PILLS.get(SystemState(self.state), "")

    @property
    def is_imported(self) -> bool:
        return self.kind == IMPORTED

    @property
    def scorer(self) -> str:
        """Return the name of the function from outside that scores for it (pooling/runs/scorers.py); empty: none."""
        return str(self.settings.get("scorer", "")) if self.is_imported else ""

    @property
    def is_a_file(self) -> bool:
        """Tell whether all that is known of it is the file of its run."""
        return self.is_imported and not self.scorer

    @property
    def seconds_an_epoch(self) -> float | None:
        return self.train_seconds / self.epochs_done if self.train_seconds and self.epochs_done else None

    @property
    def peak_mebibytes(self) -> int:
        return round((self.peak_bytes or 0) / 2**20)
