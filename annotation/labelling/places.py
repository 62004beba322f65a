"""Find the slot or check that a ticket, or the id of a label, names: by the same queries for both, at the same cost.

Otherwise the time of a refused or repeated submit would tell the person which of their questions are checks. Every
look-up begins with one unique column, so that the database reads one row of each kind, not all those of a person.
"""

from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import BooleanField, CharField, IntegerField, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from annotation.enums import CampaignState, SlotState
from annotation.models import Check, CheckLabel, Item, Label, Slot, SurplusLabel
from annotation.models.slot import ADJUDICATION, PLACES
from core.fixed import Fixed

KeptLabel = Label | CheckLabel | SurplusLabel


class KnownLabel(NamedTuple):
    """What is known of a kept label of any kind, read by the same query and into the same columns for each."""

    pk: int
    kind: type[KeptLabel]
    client_id: UUID
    annotator_id: int
    item_id: int | None
    check_item_id: int | None
    reason: str  # of a surplus label


class Place(NamedTuple):
    """What is known of a slot or check before anything of its own is read; the fields are the columns of `_place`."""

    is_check: bool
    pk: int
    campaign_id: int
    item_id: int | None
    relation: int
    state: str
    holder_id: int | None
    number: int
    ticket: UUID
    campaign_state: str
    evidence_rule: str

    @property
    def needs_reason(self) -> bool:
        """Return whether the answer decides a dispute."""
        return self.number == ADJUDICATION

    def is_held_by(self, user: User) -> bool:
        return in_hand(user, self.holder_id, self.state, self.campaign_state)


def in_hand(user: User, holder_id: int | None, state: str, campaign_state: str) -> bool:
    """Return whether a person has a question now, so that an answer to it counts: by its columns, read or locked."""
    return holder_id == user.pk and state == SlotState.LEASED and campaign_state != CampaignState.CLOSED


def place_of_ticket(ticket: UUID) -> Place | None:
    """Return the slot or check with this ticket, whoever has it; None if it was withdrawn.

    A check of somebody else is found like a slot of theirs: two members could try each other's tickets, and what they
    are told must not differ. The lease proves that a ticket is one's own.
    """
    found = _BY_TICKET.first(ticket=ticket)
    return None if found is None else Place(*found)


def place_and_label(ticket: UUID, client_id: UUID) -> tuple[Place | None, KnownLabel | None]:
    """Return what `place_of_ticket` and `label_of_client` do, in one query for both."""
    place = label = None
    for row in _BY_BOTH(ticket=ticket, client_id=client_id):
        if row[0] is None:
            label = label or _known(client_id, *row[1:7])
        else:
            place = place or Place(*row)
    return place, label


def place_of_label(user: User, client_id: UUID) -> Place | None:
    """Return the slot or check that this person answered with this id; None if there is none."""
    nothing = Value(0, IntegerField())
    labels = Label.objects.order_by().filter(client_id=client_id).values_list("annotator", "slot", nothing)
    answers = CheckLabel.objects.order_by().filter(client_id=client_id).values_list("annotator", nothing, "check_item")
    own = (places for annotator, *places in labels.union(answers, all=True) if annotator == user.pk)
    slot, check = next(own, (0, 0))
    found = _BY_ID.first(slot=slot, check=check) if slot or check else None
    return None if found is None else Place(*found)


def _places(slots: QuerySet[Slot], checks: QuerySet[Check]) -> QuerySet[Any, tuple[Any, ...]]:
    of_slot = slots.order_by().values_list(
        Value(False, BooleanField()),
        "pk",
        "item__campaign",
        "item",
        "item__triple__relation",
        "state",
        "annotator",
        "number",
        "ticket",
        "item__campaign__state",
        "item__campaign__evidence_rule",
    )
    # a gold item has no triple to join, and a join would cost time for it too
    relation_of_item = Item.objects.order_by().filter(pk=OuterRef("item")).values("triple__relation")
    of_check = (
        checks.order_by()
        .exclude(template=None)
        .values_list(
            Value(True, BooleanField()),
            "pk",
            "campaign",
            "item",
            Coalesce("gold__relation", Subquery(relation_of_item)),
            "state",
            "person",
            Value(PLACES[0]),
            "ticket",
            "campaign__state",
            "campaign__evidence_rule",
        )
    )
    return of_slot.union(of_check, all=True)


_KINDS: tuple[type[KeptLabel], ...] = (Label, CheckLabel, SurplusLabel)
_NO_ID, _NO_REASON = Value(None, IntegerField()), Value("", CharField())


def _ids_of_client(client_id: UUID, *more: Value) -> list[QuerySet[Any, tuple[Any, ...]]]:
    """Return what `_known` takes of the labels with this id, one query for each kind, and `more` columns around it."""
    columns: tuple[tuple[Any, ...], ...] = (  # check, item, annotator, reason
        (_NO_ID, "item", "annotator", _NO_REASON),
        ("check_item", _NO_ID, "annotator", _NO_REASON),
        ("check_item", "item", "annotator", "reason"),
    )
    return [
        kind.objects.order_by()
        .filter(client_id=client_id)
        .values_list(*more[:1], "pk", *of_kind, Value(number, IntegerField()), *more[1:])
        for number, (kind, of_kind) in enumerate(zip(_KINDS, columns, strict=True))
    ]


def _union(first: QuerySet[Any, Any], *others: QuerySet[Any, Any]) -> QuerySet[Any, Any]:
    return first.union(*others, all=True)


def _known(
    client_id: UUID, pk: int, check: int | None, item: int | None, annotator: int, reason: str, number: int
) -> KnownLabel:
    return KnownLabel(pk, _KINDS[number], client_id, annotator, item, check, reason)


def _of_ticket(ticket: UUID) -> QuerySet[Any, tuple[Any, ...]]:
    return _places(Slot.objects.filter(ticket=ticket), Check.objects.filter(ticket=ticket))


_NOTHING = [_NO_ID] * (len(Place._fields) - 6)
_BY_TICKET = Fixed(_of_ticket)
_BY_ID = Fixed(lambda slot, check: _places(Slot.objects.filter(pk=slot), Check.objects.filter(pk=check)))
_BY_BOTH = Fixed(lambda ticket, client_id: _union(_of_ticket(ticket), *_ids_of_client(client_id, *_NOTHING)))
_OF_CLIENT = Fixed(lambda client_id: _union(*_ids_of_client(client_id)))


def label_of_client(client_id: UUID) -> KnownLabel | None:
    """Return the label of any kind that has this id."""
    found = _OF_CLIENT.first(client_id=client_id)
    return None if found is None else _known(client_id, *found)
