"""Items and their slots, with the batches in which they came and the words in which they are asked."""

from functools import lru_cache
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint
from django.utils.crypto import salted_hmac

from annotation.enums import BatchOrigin, ItemState, SlotState
from annotation.models.campaign import Campaign
from core.clock import Stamp
from pooling.models import PooledTriple, Relation


class QuestionTemplate(models.Model):
    """The words of a question, with literal {subject} and {object}: versioned, never changed."""

    relation = models.ForeignKey(Relation, on_delete=models.CASCADE, related_name="templates")
    version = models.PositiveIntegerField(default=1)
    statement = models.CharField(max_length=500, help_text="asked of one triple: has {subject} and {object}")
    tail_question = models.CharField(max_length=500, help_text="asks for the tails of one head: has {subject}")
    head_question = models.CharField(max_length=500, help_text="asks for the heads of one tail: has {object}")
    is_default = models.BooleanField(default=False, help_text="made from the relation's name")
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = Stamp(auto_now_add=True)
    read_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    read_at = models.DateTimeField(null=True, blank=True, help_text="when a person read words made from the name")

    class Meta:
        ordering = ["relation", "version"]
        constraints = [UniqueConstraint(fields=["relation", "version"], name="template_version_once")]

    def __str__(self) -> str:
        return f"{self.relation.key} v{self.version}"

    @property
    def is_unread(self) -> bool:
        """Return whether the words were made from the name and nobody has read them."""
        return self.is_default and self.read_at is None


class Batch(models.Model):
    """Triples that became items together. Its items say how each was chosen: place, probability, arm."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="batches")
    number = models.PositiveIntegerField(help_text="1, 2, ... within the campaign")
    origin = models.CharField(max_length=10, choices=BatchOrigin)
    order = models.CharField(max_length=20, blank=True, help_text="name of the order of judging, if one chose")
    settings = models.JSONField(default=dict, help_text="of the order or the sample, its seed included")
    size = models.PositiveIntegerField()
    created_at = Stamp(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "number"]
        verbose_name_plural = "batches"
        constraints = [
            UniqueConstraint(fields=["campaign", "number"], name="batch_number_once"),
            CheckConstraint(condition=Q(origin__in=BatchOrigin.values), name="batch_origin_known"),
        ]

    def __str__(self) -> str:
        return f"batch {self.number} of {self.campaign}"


PLACES = (1, 2)  # the numbers of the slots of annotators
ADJUDICATION = 3  # the number of the third slot


class Item(models.Model):
    """A pooled triple that people must judge."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="items", db_index=False)
    triple = models.OneToOneField(PooledTriple, on_delete=models.PROTECT, related_name="item")
    # items of one question share a group; groups and the items within come in a seeded random order
    group = models.PositiveIntegerField()
    order = models.PositiveIntegerField(help_text="place in the seeded random order, groups together")
    side = models.CharField(max_length=4, help_text="which side the group's question masks")
    state = models.CharField(max_length=10, choices=ItemState, default=ItemState.OPEN)
    # the first labeller: items with one label are given out first, to others
    started_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    reopened = models.BooleanField(
        default=False, help_text="a manager wants a third person's judgement, although two agree"
    )
    # adjudicators who held it as a dispute have seen its labels, so they never label it themselves
    seen_by = models.ManyToManyField(User, related_name="+")
    # people who are asked its question before others of theirs; others may be asked too
    assigned_to = models.ManyToManyField(User, related_name="+")
    settled_at = models.DateTimeField(null=True, blank=True)
    # how it was chosen for people; annotators never see this
    batch = models.ForeignKey(Batch, null=True, blank=True, on_delete=models.PROTECT, related_name="items")
    place = models.PositiveIntegerField(
        null=True, blank=True, help_text="in the sequence of the order; none: it came with its question"
    )
    probability = models.FloatField(null=True, blank=True, help_text="of being drawn, where it was drawn")
    arm = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="index of the run that the order followed, where it follows runs"
    )

    class Meta:
        ordering = ["order"]
        constraints = [
            UniqueConstraint(fields=["campaign", "order"], name="item_order_once"),
            CheckConstraint(condition=Q(state__in=ItemState.values), name="item_state_known"),
            CheckConstraint(condition=Q(side__in=["tail", "head"]), name="item_side_known"),
        ]
        # campaign has no index of its own, since three begin with it
        indexes = [
            Index(fields=["campaign", "state", "started_by", "order"]),
            Index(fields=["campaign", "group"]),
            Index(fields=["started_by"], condition=Q(started_by__isnull=False), name="item_started_by"),
        ]

    def __str__(self) -> str:
        return f"item {self.pk} ({self.state})"

    @property
    def is_open(self) -> bool:
        return self.state == ItemState.OPEN

    @property
    def is_disputed(self) -> bool:
        return self.state == ItemState.DISPUTED


@lru_cache(10_000)
def lease_of(ticket: UUID, person_id: int) -> UUID:
    """Return the secret that only a person who was given this ticket knows.

    It outlives the lease, so that a late answer can be told from one for somebody else's slot.
    """
    mac = salted_hmac("annotation.lease", f"{ticket}:{person_id}", algorithm="sha256")
    return UUID(bytes=mac.digest()[:16])


class Slot(models.Model):
    """A place for one label on an item: 1 and 2 for annotators, 3 for the adjudicator.

    Slots are unique by (item, number) and by (item, annotator): an item never has three plain labels, two places for
    one person, or an adjudicator who labelled it. A withdrawn slot keeps its person, who is not asked again, and label.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="slots", db_index=False)
    number = models.PositiveSmallIntegerField()
    ticket = models.UUIDField(unique=True, default=uuid4, editable=False, help_text="its name outside")
    state = models.CharField(max_length=10, choices=SlotState, default=SlotState.FREE)
    annotator = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="slots", db_index=False
    )
    leased_until = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    template = models.ForeignKey(
        QuestionTemplate,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="the version that its present holder was shown",
    )

    class Meta:
        constraints = [
            UniqueConstraint(
                fields=["item", "number"], condition=~Q(state=SlotState.WITHDRAWN), name="slot_number_once"
            ),
            UniqueConstraint(fields=["item", "annotator"], name="slot_person_once"),
            CheckConstraint(condition=Q(number__in=[1, 2, 3]), name="slot_number_known"),
            CheckConstraint(condition=Q(state__in=SlotState.values), name="slot_state_known"),
            CheckConstraint(
                condition=Q(state=SlotState.FREE, annotator=None)
                | (~Q(state=SlotState.FREE) & Q(annotator__isnull=False)),
                name="slot_held_by_one",
            ),
        ]
        # no index on state: SQLite would use it to read every free slot, not the few of one group. None on item alone:
        # slot_person_once begins with it. Free slots are in no index of people or words, so that a campaign opens fast.
        indexes = [
            Index(fields=["annotator", "state"], condition=Q(annotator__isnull=False), name="slot_annotator_state"),
            Index(fields=["template"], condition=Q(template__isnull=False), name="slot_template"),
        ]

    def __str__(self) -> str:
        return f"slot {self.number} of item {self.item_id} ({self.state})"

    @property
    def asked(self) -> Item:
        """The item of this slot; like a check, it has campaign, side and triple."""
        return self.item

    @property
    def is_adjudication(self) -> bool:
        return self.number == ADJUDICATION

    @property
    def is_withdrawn(self) -> bool:
        return self.state == SlotState.WITHDRAWN

    @property
    def lease(self) -> UUID | None:
        return None if self.annotator_id is None else lease_of(self.ticket, self.annotator_id)
