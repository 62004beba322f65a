"""Labels, append-only: a change is a new row that supersedes the old one; reports; judgements, which labels make."""

from django.contrib.auth.models import User
from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint

from annotation.enums import Answer, Cause, FlagKind, JudgementOrigin, SurplusReason, Verdict
from annotation.models.campaign import Campaign
from annotation.models.check import Check
from annotation.models.slot import Item, QuestionTemplate, Slot
from core.clock import Stamp
from pooling.enums import Side
from pooling.models import Pool, PooledTriple

_CAUSE_KNOWN = Q(cause__in=["", *Cause.values])
_OF_ONE_QUESTION = Q(item=None, check_item__isnull=False) | Q(item__isnull=False, check_item=None)


class _Answered(models.Model):
    annotator = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    answer = models.CharField(max_length=1, choices=Answer)
    source_url = models.CharField(max_length=2000, blank=True)
    passage = models.TextField(blank=True, help_text="what the source says, one or two sentences")
    comment = models.TextField(blank=True, help_text="why can't tell; an adjudicator's reason")
    cause = models.CharField(max_length=10, blank=True, choices=Cause, help_text="an adjudicator's reason by one key")
    client_id = models.UUIDField(unique=True, help_text="made by the page: a repeated submit is the same label")
    template = models.ForeignKey(QuestionTemplate, on_delete=models.PROTECT, related_name="+")
    active_ms = models.PositiveIntegerField(default=0)
    away_ms = models.PositiveBigIntegerField(default=0, help_text="the rest of the time it was on the screen")
    is_bulk = models.BooleanField(default=False, help_text="no for all remaining candidates at once")
    created_at = Stamp(auto_now_add=True)

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
            CheckConstraint(condition=Q(answer__in=Answer.values), name="label_answer_known"),
            CheckConstraint(condition=_CAUSE_KNOWN, name="label_cause_known"),
            # one first label a slot; every later one supersedes exactly one (supersedes is unique)
            UniqueConstraint(fields=["slot"], condition=Q(supersedes=None), name="label_first_of_slot_once"),
        ]
        indexes = [Index(fields=["annotator", "-id"]), Index(fields=["annotator", "created_at"])]


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
            CheckConstraint(condition=Q(answer__in=Answer.values), name="surplus_answer_known"),
            CheckConstraint(condition=_CAUSE_KNOWN, name="surplus_cause_known"),
            CheckConstraint(condition=Q(reason__in=SurplusReason.values), name="surplus_reason_known"),
            CheckConstraint(condition=_OF_ONE_QUESTION, name="surplus_of_one_question"),
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
            CheckConstraint(condition=Q(answer__in=Answer.values), name="check_label_answer_known"),
            CheckConstraint(condition=Q(cause=""), name="check_label_no_cause"),
            UniqueConstraint(fields=["check_item"], condition=Q(supersedes=None), name="check_label_first_once"),
        ]
        indexes = [Index(fields=["annotator", "-id"])]


class Flag(models.Model):
    """What a person reports about a question without answering it, and the reply."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="flags")
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="flags")
    item = models.ForeignKey(Item, null=True, blank=True, on_delete=models.CASCADE, related_name="flags")
    check_item = models.ForeignKey(Check, null=True, blank=True, on_delete=models.CASCADE, related_name="flags")
    template = models.ForeignKey(
        QuestionTemplate, on_delete=models.PROTECT, related_name="+", help_text="the version that was shown"
    )
    kind = models.CharField(max_length=10, choices=FlagKind)
    text = models.CharField(max_length=2000, blank=True)
    holds_item = models.BooleanField(default=False)  # nobody is given the dispute until this has a reply
    client_id = models.UUIDField(unique=True)
    created_at = Stamp(auto_now_add=True)
    reply = models.CharField(max_length=2000, blank=True)
    replied_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    replied_at = models.DateTimeField(null=True, blank=True)
    reply_seen_at = models.DateTimeField(null=True, blank=True)  # when the person's own reports first showed it

    class Meta:
        ordering = ["id"]
        constraints = [
            CheckConstraint(condition=Q(kind__in=FlagKind.values), name="flag_kind_known"),
            CheckConstraint(condition=_OF_ONE_QUESTION, name="flag_of_one_question"),
        ]
        indexes = [Index(fields=["campaign", "replied_at"])]

    def __str__(self) -> str:
        return f"flag {self.pk} ({self.kind})"

    @property
    def is_open(self) -> bool:
        return self.replied_at is None


class ImportedLabel(models.Model):
    """A label made elsewhere, as its file gave it; append-only."""

    # imported_line_once begins with it
    triple = models.ForeignKey(PooledTriple, on_delete=models.PROTECT, related_name="imported_labels", db_index=False)
    answer = models.CharField(max_length=1, choices=Answer)
    annotator = models.CharField(max_length=150, blank=True)
    source_url = models.CharField(max_length=2000, blank=True)
    passage = models.TextField(blank=True)
    cause = models.CharField(max_length=10, blank=True, choices=Cause)
    labelled_at = models.DateTimeField(null=True, blank=True)
    side = models.CharField(max_length=4, choices=Side, blank=True)  # of the question, where the file tells both
    question_version = models.PositiveIntegerField(null=True, blank=True)
    file_name = models.CharField(max_length=300)
    file_sha256 = models.CharField(max_length=64)
    line = models.PositiveIntegerField()
    created_at = Stamp(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            CheckConstraint(condition=Q(answer__in=Answer.values), name="imported_answer_known"),
            CheckConstraint(
                condition=Q(side="", question_version=None) | Q(side__in=Side.values, question_version__gte=1),
                name="imported_question_whole",
            ),
            CheckConstraint(condition=_CAUSE_KNOWN, name="imported_cause_known"),
            UniqueConstraint(fields=["triple", "file_sha256", "line"], name="imported_line_once"),
        ]

    def __str__(self) -> str:
        return f"{self.file_name}:{self.line} {self.answer}"


class Judgement(models.Model):
    """The final label of a triple, rewritten when its labels change; decided_at orders and versions judgements."""

    # the index on pool and decided_at begins with it
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="judgements", db_index=False)
    triple = models.OneToOneField(PooledTriple, on_delete=models.PROTECT, related_name="judgement")
    verdict = models.CharField(max_length=10, choices=Verdict)
    origin = models.CharField(max_length=10, choices=JudgementOrigin)
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [
            CheckConstraint(condition=Q(verdict__in=Verdict.values), name="judgement_verdict_known"),
            CheckConstraint(condition=Q(origin__in=JudgementOrigin.values), name="judgement_origin_known"),
        ]
        indexes = [Index(fields=["pool", "decided_at"])]

    def __str__(self) -> str:
        return f"triple {self.triple_id}: {self.verdict}"

    @property
    def is_imported(self) -> bool:
        return self.origin == JudgementOrigin.IMPORT
