"""Store open-world studies: graphs of the same facts at several densities, and the systems trained on them."""

from django.conf import settings
from django.db import models

from pooling.models import Graph, System


class Study(models.Model):
    name = models.SlugField(max_length=60, unique=True)
    options = models.JSONField(help_text="what it was asked for; evaluation/open_world/study.py, StudyOptions")
    created_at = models.DateTimeField(auto_now_add=True)
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
