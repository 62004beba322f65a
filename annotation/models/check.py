"""Questions that check people or judgements; they enter no slot, judgement, agreement figure or measure."""

from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint

from annotation.enums import Answer, CheckKind, GoldOrigin, SlotState
from annotation.models.campaign import Campaign
from annotation.models.slot import PLACES, Item, QuestionTemplate, Slot, lease_of
from core.clock import Stamp
from pooling.models import PooledTriple

_KNOWN = (Answer.YES, Answer.NO)


class Gold(models.Model):
    """A triple with a known answer, asked among the others without being marked."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="golds")
    head = models.PositiveIntegerField()
    relation = models.PositiveIntegerField()
    tail = models.PositiveIntegerField()
    side = models.CharField(max_length=4, help_text="which side of it the question masks")
    answer = models.CharField(max_length=1, choices=Answer, help_text="the known one: Y or N")
    origin = models.CharField(max_length=10, choices=GoldOrigin)
    source_url = models.CharField(max_length=2000, blank=True, help_text="where the known answer is from")
    passage = models.TextField(blank=True, help_text="what that source says")
    is_active = models.BooleanField(default=True, help_text="is still given out")
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = Stamp(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "gold items"
        constraints = [
            UniqueConstraint(fields=["campaign", "head", "relation", "tail"], name="gold_triple_once"),
            CheckConstraint(condition=Q(answer__in=_KNOWN), name="gold_answer_known"),
            CheckConstraint(condition=Q(side__in=["tail", "head"]), name="gold_side_known"),
            CheckConstraint(condition=Q(origin__in=GoldOrigin.values), name="gold_origin_known"),
        ]

    def __str__(self) -> str:
        return f"gold {self.pk} ({self.answer})"


class Reached(models.Model):
    """How far a person was given a question: new gold comes only among the candidates after it."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    group = models.PositiveIntegerField(help_text="of the items of the question")
    order = models.PositiveIntegerField(help_text="of the last item that they were given")

    class Meta:
        constraints = [UniqueConstraint(fields=["campaign", "person", "group"], name="reached_once")]

    def __str__(self) -> str:
        return f"group {self.group} to {self.order}"


class Check(models.Model):
    """One person's gold item or re-check; to annotators it looks like a slot."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="checks")
    kind = models.CharField(max_length=10, choices=CheckKind)
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="checks")
    gold = models.ForeignKey(Gold, null=True, blank=True, on_delete=models.PROTECT, related_name="checks")
    item = models.ForeignKey(Item, null=True, blank=True, on_delete=models.PROTECT, related_name="checks")
    expected = models.CharField(
        max_length=1, choices=Answer, help_text="the known answer, or the judgement when the sample was drawn"
    )
    order = models.PositiveIntegerField(help_text="it is given out before the item of this order")
    beside = models.ForeignKey(
        Slot,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="of gold: the slot that it was given with; it goes and comes again as that one does",
    )
    number = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="of gold: of the two places of an item, the one that an item where it is would have; by default that"
        " of the slot beside it",
    )
    ticket = models.UUIDField(unique=True, default=uuid4, editable=False)
    state = models.CharField(max_length=10, choices=SlotState, default=SlotState.FREE)
    template = models.ForeignKey(QuestionTemplate, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    leased_until = models.DateTimeField(
        null=True, blank=True, help_text="after it, gold goes when others take the slot beside it"
    )
    created_at = Stamp(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            UniqueConstraint(
                fields=["gold", "person"], condition=~Q(state=SlotState.WITHDRAWN), name="check_gold_person_once"
            ),
            UniqueConstraint(fields=["item", "person"], name="check_item_person_once"),
            CheckConstraint(condition=Q(state__in=SlotState.values), name="check_state_known"),
            CheckConstraint(condition=Q(expected__in=_KNOWN), name="check_expected_known"),
            CheckConstraint(
                condition=Q(kind=CheckKind.GOLD, gold__isnull=False, item=None)
                | Q(kind=CheckKind.RECHECK, gold=None, item__isnull=False),
                name="check_of_its_kind",
            ),
        ]
        indexes = [Index(fields=["person", "campaign", "state"])]

    def __str__(self) -> str:
        return f"{self.kind} check {self.pk} ({self.state})"

    @property
    def asked(self) -> "Check":
        """The check itself: like an item, it has campaign, side and triple."""
        return self

    @property
    def triple(self) -> "Gold | PooledTriple":
        """The triple that is asked, with head, relation and tail."""
        if self.gold is not None:
            return self.gold
        assert self.item is not None
        return self.item.triple

    @property
    def side(self) -> str:
        return self.gold.side if self.gold is not None else self.item.side  # type: ignore[union-attr]

    @property
    def lease(self) -> UUID:
        return lease_of(self.ticket, self.person_id)

    @property
    def was_given_back(self) -> bool:
        """Return whether its person had it and has not answered it: given back, or lost to others."""
        return self.state == SlotState.FREE and self.template_id is not None

    @property
    def place(self) -> int:
        """The number of the place, 1 or 2, that an item where this gold is would have."""
        return self.number or (self.beside.number if self.beside else PLACES[0])

    @property
    def words(self) -> int | None:
        """Return the question template that an answer or report has: once given back, that of the slot beside it.

        A slot tells the version of the question that was shown last, be it to somebody else.
        """
        slot = self.beside
        is_away = self.state in (SlotState.FREE, SlotState.WITHDRAWN)
        if slot is None or not is_away or slot.annotator_id == self.person_id:
            return self.template_id
        return slot.template_id or self.template_id

    @property
    def went_to_others(self) -> bool:
        """Return whether somebody else has, or answered, the slot that this gold was given with."""
        return self.beside is not None and self.beside.annotator_id not in (None, self.person_id)

    @property
    def is_lost(self) -> bool:
        """Return whether its person gave it back, or kept it past its lease, and others took the slot beside it."""
        return self.state == SlotState.FREE and self.went_to_others
