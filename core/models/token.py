"""API tokens: knox keeps the hash and the expiry; beside them a name, and what the token may be used for."""

from django.db import models
from knox.models import AbstractAuthToken


class ApiToken(AbstractAuthToken):
    """`token_key` is the beginning of the token, by which its owner knows it; the token itself is kept nowhere."""

    name = models.CharField(max_length=80)
    scopes = models.JSONField(default=list, help_text="of TokenScope")
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created"]
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="token_name_once_a_person")]

    def __str__(self) -> str:
        return f"{self.name} ({self.token_key}…)"
