"""Labels are append-only: a change is a new row that supersedes the old one."""

from django.conf import settings
from django.db import models

from annotation.enums import Answer, SurplusReason
from annotation.models.check import Check
from annotation.models.question import QuestionTemplate
from annotation.models.slot import Item, Slot


class _Answered(models.Model):
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    answer = models.CharField(max_length=1, choices=Answer)
    source_url = models.CharField(max_length=2000, blank=True)
    comment = models.TextField(blank=True, help_text="why can't tell; an adjudicator's reason")
    client_id = models.UUIDField(unique=True, help_text="made by the page: a repeated submit is the same label")
    template = models.ForeignKey(QuestionTemplate, on_delete=models.PROTECT, related_name="+")
    active_ms = models.PositiveIntegerField(default=0)
    away_ms = models.PositiveBigIntegerField(default=0, help_text="the rest of the time it was on the screen")
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
        indexes = [models.Index(fields=["annotator", "-id"]), models.Index(fields=["annotator", "created_at"])]


class SurplusLabel(_Answered):
    """An answer that was kept although its slot or check could not take it; it enters nothing."""

    item = models.ForeignKey(Item, null=True, blank=True, on_delete=models.PROTECT, related_name="surplus_labels")
    check_item = models.ForeignKey(
        Check, null=True, blank=True, on_delete=models.PROTECT, related_name="surplus_labels"
    )
    reason = models.CharField(max_length=10, choices=SurplusReason, default=SurplusReason.LATE)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(answer__in=Answer.values), name="surplus_answer_known"),
            models.CheckConstraint(condition=models.Q(reason__in=SurplusReason.values), name="surplus_reason_known"),
            models.CheckConstraint(
                condition=models.Q(item=None, check_item__isnull=False) | models.Q(item__isnull=False, check_item=None),
                name="surplus_of_one_question",
            ),
        ]


class CheckLabel(_Answered):
    """The answer to a check: append-only like a label, and it enters nothing."""

    check_item = models.ForeignKey(Check, on_delete=models.PROTECT, related_name="labels")
    supersedes = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="superseded_by"
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(answer__in=Answer.values), name="check_label_answer_known"),
            models.UniqueConstraint(
                fields=["check_item"], condition=models.Q(supersedes=None), name="check_label_first_once"
            ),
        ]
        indexes = [models.Index(fields=["annotator", "-id"])]
