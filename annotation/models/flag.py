"""What people report about a question without answering it, and the replies."""

from django.conf import settings
from django.db import models

from annotation.enums import FlagKind
from annotation.models.campaign import Campaign
from annotation.models.check import Check
from annotation.models.question import QuestionTemplate
from annotation.models.slot import Item


class Flag(models.Model):
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="flags")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="flags")
    item = models.ForeignKey(Item, null=True, blank=True, on_delete=models.CASCADE, related_name="flags")
    check_item = models.ForeignKey(Check, null=True, blank=True, on_delete=models.CASCADE, related_name="flags")
    template = models.ForeignKey(
        QuestionTemplate, on_delete=models.PROTECT, related_name="+", help_text="the version that was shown"
    )
    kind = models.CharField(max_length=10, choices=FlagKind)
    text = models.CharField(max_length=2000, blank=True)
    # the dispute is given to nobody until this has a reply
    holds_item = models.BooleanField(default=False)
    client_id = models.UUIDField(unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    reply = models.CharField(max_length=2000, blank=True)
    replied_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    replied_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=FlagKind.values), name="flag_kind_known"),
            models.CheckConstraint(
                condition=models.Q(item=None, check_item__isnull=False) | models.Q(item__isnull=False, check_item=None),
                name="flag_of_one_question",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "replied_at"])]

    def __str__(self) -> str:
        return f"flag {self.pk} ({self.kind})"

    @property
    def is_open(self) -> bool:
        return self.replied_at is None
