"""The audit log: who did what, and when. Rows are only added. They hold no names, so an erasure reaches them."""

from django.conf import settings
from django.db import models

ACTS: dict[str, str] = {}  # act -> words; each app registers its own (core/people/audit_log.py)


def known_acts() -> list[tuple[str, str]]:
    """Return the acts that the apps have registered, with their words."""
    return list(ACTS.items())


class AuditEntry(models.Model):
    at = models.DateTimeField(auto_now_add=True)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="none: a command on the server",
    )
    act = models.CharField(max_length=30, choices=known_acts)
    pool = models.ForeignKey("pooling.Pool", null=True, blank=True, on_delete=models.SET_NULL, related_name="audit")
    subject = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="whom it was done to",
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
