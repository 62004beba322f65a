"""Jobs, the audit log, API tokens and preferences. Foreign keys name models of pooling: core does not import it."""

from django.conf import settings
from django.db import models
from knox.models import AbstractAuthToken

from core import clock
from core.clock import Stamp
from core.enums import JobState

ACTS: dict[str, str] = {}  # act -> words; each app registers its own (core/people/audit_log.py)


def known_acts() -> list[tuple[str, str]]:
    """Return the acts that the apps have registered, with their words."""
    return list(ACTS.items())


class AuditEntry(models.Model):
    at = Stamp(auto_now_add=True)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        help_text="none: a command on the server",
        on_delete=models.SET_NULL,
        related_name="+",
    )
    act = models.CharField(max_length=30, choices=known_acts)
    pool = models.ForeignKey("pooling.Pool", null=True, blank=True, on_delete=models.SET_NULL, related_name="audit")
    subject = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        help_text="whom it was done to",
        on_delete=models.SET_NULL,
        related_name="+",
    )
    about = models.CharField(
        max_length=300, blank=True, help_text="what it was done to, in words, without names of people"
    )
    details = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["pool", "-id"])]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.act}"


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
    # a part has no subject of its own: the job that it is a part of has
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="parts")
    params = models.JSONField(default=dict)
    stage = models.CharField(max_length=200, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    unit = models.CharField(max_length=40, blank=True)
    seconds_left = models.FloatField(null=True, blank=True)
    log = models.TextField(blank=True)
    error = models.TextField(blank=True)
    needs = models.PositiveBigIntegerField(default=0, help_text="bytes of memory at least; 0: not known")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="how often a worker took it")
    deaths = models.PositiveSmallIntegerField(default=0, help_text="workers that died with it since it got further")
    cancel_requested = models.BooleanField(default=False)
    worker = models.CharField(max_length=200, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = Stamp(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.CheckConstraint(condition=models.Q(state__in=JobState.values), name="job_state_known")]
        indexes = [models.Index(fields=["state", "heartbeat_at"])]

    def __str__(self) -> str:
        subject = self.system or self.pool or self.graph or self.params.get("study") or self.params.get("name", "")
        return f"{self.get_kind_display()} {subject}"

    @property
    def percent(self) -> int:
        return min(100, self.done * 100 // self.total) if self.total else 0

    @property
    def time_left(self) -> float | None:
        """Return the seconds left; None below 5 %, where they are a guess, and where they would read as 0 s."""
        left = self.seconds_left
        return left if left is not None and left >= 0.5 and self.percent >= 5 else None

    @property
    def pill(self) -> str:
        """Return how the pill of the state looks; empty while the job waits."""
        return "" if self.is_queued else str(self.state)

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
        return self.state in (JobState.FAILED, JobState.CANCELLED) and self.parent_id is None

    @property
    def is_over(self) -> bool:
        return self.state in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class Worker(models.Model):
    """A worker process group; it writes its row every few seconds while it is alive."""

    name = models.CharField(max_length=200, unique=True)
    queues = models.CharField(max_length=200)
    seen_at = models.DateTimeField()
    clock_off = models.FloatField(default=0, help_text="seconds by which its clock is ahead of the database's")
    host = models.CharField(max_length=200, blank=True)
    device = models.CharField(max_length=100, blank=True, help_text="name of its GPU, or CPU")
    memory = models.PositiveBigIntegerField(default=0, help_text="bytes that the device has; 0: not known")
    processes = models.PositiveSmallIntegerField(default=1)
    version = models.CharField(max_length=40, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name

    @property
    def queue_names(self) -> list[str]:
        return self.queues.split(",")

    @property
    def clock_is_wrong(self) -> bool:
        return abs(self.clock_off) > clock.MOST_OFF.total_seconds()

    @property
    def clock_words(self) -> str:
        """Say how wrong its clock is."""
        return clock.words(self.clock_off)


class SiteVersion(models.Model):
    """The version that last migrated this database: one row (core/version.py)."""

    version = models.CharField(max_length=40)

    def __str__(self) -> str:
        return self.version


class ApiToken(AbstractAuthToken):
    """A token of a person. `token_key` is its beginning, by which the owner knows it; the rest is not stored."""

    name = models.CharField(max_length=80)
    scopes = models.JSONField(default=list, help_text="of TokenScope")
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created"]
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="token_name_once_a_person")]

    def __str__(self) -> str:
        return f"{self.name} ({self.token_key}…)"


class Preferences(models.Model):
    """What a person chose for themselves. No row: nothing yet."""

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="preferences"
    )
    language = models.CharField(max_length=20, blank=True, help_text="code of settings.LANGUAGES")
    time_zone = models.CharField(max_length=64, blank=True, help_text="as in Europe/Berlin; empty: the site's")

    def __str__(self) -> str:
        return self.language
