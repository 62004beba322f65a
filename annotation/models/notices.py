"""What a person wants to be told, and what they were told."""

from django.contrib.auth.models import User
from django.db import models


class NoticeSettings(models.Model):
    person = models.OneToOneField(User, on_delete=models.CASCADE, related_name="notice_settings")
    seen_at = models.DateTimeField(null=True, blank=True, help_text="when they last looked at their notices")
    digest = models.BooleanField(default=True, help_text="whether they want a mail a day")
    digest_at = models.DateTimeField(null=True, blank=True, help_text="when a digest was last worked out")
    told_until = models.DateTimeField(null=True, blank=True, help_text="until when digests have told everything")

    class Meta:
        verbose_name_plural = "notice settings"

    def __str__(self) -> str:
        return f"notices of {self.person}"
