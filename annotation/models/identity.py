"""Who a person is to a provider of single sign-on."""

from django.contrib.auth.models import User
from django.db import models

from core.clock import Stamp


class Identity(models.Model):
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=255, help_text="address of the provider")
    subject = models.CharField(max_length=255, help_text="what the provider calls the person, for good")
    created_at = Stamp(auto_now_add=True)

    class Meta:
        verbose_name_plural = "identities"
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="identity_once")]

    def __str__(self) -> str:
        return f"identity of {self.person}"
