"""API tokens: knox stores hash and expiry; we add a name, the scopes and the last use."""

from django.db import models
from knox.models import AbstractAuthToken


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
