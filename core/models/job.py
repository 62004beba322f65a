"""Jobs: one row for each piece of long work. The row is the truth, whatever a broker delivers or loses."""

from django.conf import settings
from django.db import models

from core.enums import JobState

KINDS: dict[str, str] = {}  # kind -> words; each app registers its own (core/jobs/registry.py)


def known_kinds() -> list[tuple[str, str]]:
    """Return the kinds of job that the apps have registered, with their words."""
    return list(KINDS.items())


class Job(models.Model):
    kind = models.CharField(max_length=20, choices=known_kinds)
    state = models.CharField(max_length=10, choices=JobState, default=JobState.QUEUED)
    graph = models.ForeignKey("pooling.Graph", null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    system = models.ForeignKey("pooling.System", null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    pool = models.ForeignKey("pooling.Pool", null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    params = models.JSONField(default=dict)
    stage = models.CharField(max_length=200, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    unit = models.CharField(max_length=40, blank=True)
    seconds_left = models.FloatField(null=True, blank=True)
    log = models.TextField(blank=True)
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    cancel_requested = models.BooleanField(default=False)
    worker = models.CharField(max_length=200, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.CheckConstraint(condition=models.Q(state__in=JobState.values), name="job_state_known")]
        indexes = [models.Index(fields=["state", "heartbeat_at"])]

    def __str__(self) -> str:
        subject = self.system or self.pool or self.graph or self.params.get("study", "")
        return f"{self.get_kind_display()} {subject}"

    @property
    def percent(self) -> int:
        return min(100, self.done * 100 // self.total) if self.total else 0

    @property
    def badge(self) -> str:
        """Return the CSS class of the state's badge; empty while the job waits."""
        return "" if self.is_queued else f"badge-{self.state}"

    @property
    def is_queued(self) -> bool:
        return self.state == JobState.QUEUED

    @property
    def is_running(self) -> bool:
        return self.state == JobState.RUNNING

    @property
    def is_done(self) -> bool:
        return self.state == JobState.DONE

    @property
    def has_failed(self) -> bool:
        return self.state == JobState.FAILED

    @property
    def can_retry(self) -> bool:
        return self.state in (JobState.FAILED, JobState.CANCELLED)

    @property
    def is_over(self) -> bool:
        return self.state in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class Worker(models.Model):
    """A worker process group; it writes its row every few seconds while it is alive."""

    name = models.CharField(max_length=200, unique=True)
    queues = models.CharField(max_length=200)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
