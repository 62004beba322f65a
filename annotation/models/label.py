"""Labels: append-only. A change or an undo is a new row that supersedes the old one."""

from django.conf import settings
from django.db import models

from annotation.enums import Answer
from annotation.models.question import QuestionTemplate
from annotation.models.slot import Item, Slot


class _Answered(models.Model):
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    answer = models.CharField(max_length=1, choices=Answer)
    source_url = models.CharField(max_length=2000, blank=True)
    comment = models.TextField(blank=True, help_text="why can't tell; an adjudicator's reason")
    client_id = models.UUIDField(
        unique=True, help_text="made by the page: a repeated submit is the same label"
    )
    template = models.ForeignKey(QuestionTemplate, on_delete=models.PROTECT, related_name="+")
    active_ms = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.answer} ({self.client_id})"


class Label(_Answered):
    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="labels")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="labels")
    supersedes = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="superseded_by"
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(answer__in=Answer.values), name="label_answer_known"),
            # one first label a slot; every later one supersedes exactly one (supersedes is unique)
            models.UniqueConstraint(
                fields=["slot"], condition=models.Q(supersedes=None), name="label_first_of_slot_once"
            ),
        ]
        indexes = [models.Index(fields=["annotator", "-id"])]


class SurplusLabel(_Answered):
    """An answer that came after its slot was taken by somebody else: kept, and part of nothing."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="surplus_labels")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(answer__in=Answer.values), name="surplus_answer_known")
        ]
