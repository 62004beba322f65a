"""Where managers want to be told what happens, and what was sent there."""

import uuid
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db import models

from annotation.enums import DeliveryState, WebhookEvent
from core.clock import Stamp
from pooling.models import Pool


class Webhook(models.Model):
    pool = models.ForeignKey(
        Pool, null=True, blank=True, on_delete=models.CASCADE, related_name="webhooks", help_text="none: all pools"
    )
    url = models.CharField(max_length=500)
    events = models.JSONField(default=list, help_text="of WebhookEvent")
    salt = models.CharField(max_length=32, help_text="its secret follows from this and SECRET_KEY")
    active = models.BooleanField(default=True)
    failures = models.PositiveSmallIntegerField(default=0, help_text="messages given up since the last that arrived")
    stopped_at = models.DateTimeField(null=True, blank=True, help_text="when the site switched it off")
    told = models.JSONField(default=dict, help_text="what was told of each campaign: [share of items, stalled since]")
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = Stamp(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.host

    @property
    def host(self) -> str:
        """Return the host: the part of the address that is no secret."""
        return urlsplit(self.url).hostname or ""

    @property
    def event_words(self) -> list[str]:
        return [str(event.label) for event in WebhookEvent if event in self.events]


class Delivery(models.Model):
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    uid = models.UUIDField(default=uuid.uuid4, unique=True)
    event = models.CharField(max_length=20, help_text="of WebhookEvent, or test")
    body = models.TextField()
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(help_text="of the next attempt, while it waits")
    status = models.PositiveSmallIntegerField(null=True, blank=True, help_text="of the last answer")
    problem = models.CharField(max_length=300, blank=True)
    created_at = Stamp(auto_now_add=True)
    tried_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "deliveries"
        constraints = [
            models.CheckConstraint(condition=models.Q(state__in=DeliveryState.values), name="delivery_state_known")
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=models.Q(state=DeliveryState.WAITING), name="delivery_waits")
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.uid}"
