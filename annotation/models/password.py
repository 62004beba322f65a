"""Who asked for a new password."""

from django.db import models


class PasswordRequest(models.Model):
    """An e-mail address that was typed as that of a forgotten password, whether or not an account has it."""

    email = models.CharField(max_length=254, help_text="in NFKC and small letters")
    ip_address = models.GenericIPAddressField(null=True, blank=True, help_text="where it was typed")
    created_at = models.DateTimeField()
    handled_at = models.DateTimeField(null=True, blank=True, help_text="when a worker looked for its accounts")

    class Meta:
        indexes = [
            models.Index(fields=["created_at"], condition=models.Q(handled_at=None), name="password_request_waits")
        ]

    def __str__(self) -> str:
        return f"request {self.pk}"
