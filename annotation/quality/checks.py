"""Check people and judgements: gold items among the questions, and final judgements that an expert judges again.

To annotators, checks look like slots. Their answers are kept apart and enter no judgement, agreement or measure.
"""

import hashlib
import math
from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.enums import AnnotationAct, Answer, CampaignState, CheckKind, GoldOrigin, ItemState, SlotState, Verdict
from annotation.errors import CampaignError
from annotation.judging.label_file import LabelLine, Triple, read_label_file
from annotation.judging.transitions import claimable, move_checks
from annotation.judging.waiting import kept_slots, lost_gold_comes
from annotation.labelling.question import Question, question_of
from annotation.labelling.queue import (
    MAX_LEASED,
    Alone,
    by_template,
    claim,
    free_places,
    lease_end,
    one_by_one,
    slots_in_hand,
)
from annotation.models import Campaign, Check, Gold, Item, Judgement, Reached, Slot, TrainingQuestion
from annotation.models.slot import PLACES
from core import clock
from core.database import held
from core.fixed import Fixed
from core.people.audit_log import record
from pooling.enums import TO_PEOPLE, Side
from pooling.graphs.opening import open_graph
from pooling.pools.files import Problems, several
from pooling.pools.kernels.filters import TYPES

_GOLD = ("head", "relation", "tail", "answer", "origin", "source_url", "passage")
GoldRow = tuple[int, int, int, str, str, str, str]  # values of _GOLD

IS_ITEM = "people label this triple, so it cannot be a gold item"


# -- giving them out -----------------------------------------------------------------------------------------


def claim_questions(campaign: Campaign, user: User, count: int = 8) -> list[Slot | Check]:
    """Lease slots as queue.claim does, and this person's checks among them; return all, in one order.

    Checks count like slots, or the number of new questions would reveal them.
    """
    if campaign.state == CampaignState.CLOSED:
        return []
    mine = Mine(campaign, user)
    slots = claim(campaign, user, count, mine)
    # re-checks that were never given come also where the queue has no more
    if campaign.state == CampaignState.OPEN and (rest := mine.waiting[: max(0, count - mine.held - len(slots))]):
        with transaction.atomic():
            one_by_one(user)
            mine.give(rest)
            slots = slots_in_hand(campaign, user, PLACES)
    # two claims at once can both add checks; what is above the limit is shown once others are answered
    return _in_order(slots, [check for check in mine.checks if check.state == SlotState.LEASED])[:MAX_LEASED]


def _items_beside(campaign: Campaign, check: Check) -> QuerySet[Item]:
    """Return the items of the question of a check."""
    return campaign.items.filter(**question_of(check).lookups("triple__"))


# those that were given to the person
_HAD = Q(state__in=[SlotState.LEASED, SlotState.ANSWERED]) | Q(state=SlotState.FREE, template__isnull=False)


def _returns(campaign: Campaign, user: User, checks: Collection[Check]) -> dict[int, Item]:
    """Return the gold that this person gave back or lost to others, by the id of its check, each with an item of its
    question.

    It comes again when the item beside it would. If it stayed away, whoever gave back one candidate after the other
    would find it; if it came alone, whoever gave back all of a question. So it comes also where the manager took it
    out meanwhile, or wants no more gold.
    """
    found: dict[int, Item] = {}
    lost: dict[int, Item] = {}
    for check in checks:
        if check.gold is None or not check.was_given_back:
            continue
        if check.went_to_others and check.beside is not None:
            lost[check.pk] = check.beside.item
            continue
        # of its batch, and near in the order; one that this person was the first to answer tells less of the place of
        # its neighbours
        group = None if check.beside is None else check.beside.item.group
        near = min(
            _items_beside(campaign, check),
            key=lambda item: (
                item.group != group,
                item.started_by_id == user.pk,
                abs(item.order - check.order),
                item.order,
            ),
            default=None,
        )
        if near is not None:
            found[check.pk] = near
    comes = lost_gold_comes(campaign, user, {item.pk for item in lost.values()})
    found |= {pk: item for pk, item in lost.items() if item.pk in comes}
    return {check.pk: found[check.pk] for check in checks if check.pk in found}  # in their order


class Mine(Alone):
    """The checks of one person: gold among the candidates of a question, re-checks before one."""

    def __init__(self, campaign: Campaign, user: User) -> None:
        self.campaign, self.user = campaign, user
        self.orders: dict[int, int] = {}  # the places of those of `waiting` that have one
        self._read()

    def _read(self) -> None:
        """Read the checks that this person holds, or could be given."""
        self.checks = _own_checks(self.campaign, self.user)
        self.held = sum(check.state == SlotState.LEASED for check in self.checks)
        free = [check for check in self.checks if check.kind == CheckKind.RECHECK and check.state == SlotState.FREE]
        self.waiting = [check.pk for check in free if check.template_id is None]

    def is_as_read(self, slots: list[Slot]) -> bool:
        held = {check.pk: check.leased_until for check in self.checks if check.state == SlotState.LEASED}
        if not slots:
            self._read()
            return not self.held and not held
        now = clock.now()
        is_same = (getattr(slots[0], "checks", None) or 0) == sum(held)
        return is_same and all(until is not None and until >= now for until in held.values())

    def look(self) -> None:
        self._read()
        self._keep_held()
        self._checks = {check.pk: check for check in self.checks}
        self.orders = {}
        back = [check for check in self.checks if check.item is not None and check.was_given_back]
        orders = [check.order for check in back]
        items = {item.order: item for item in self.campaign.items.filter(order__in=orders)} if back else {}
        self._rechecks = {check.pk: items.get(check.order, check.item) for check in back if check.item is not None}
        self.returns = _returns(self.campaign, self.user, self.checks) | self._rechecks
        self._drawn: list[int] = []
        self._groups: dict[int, list[int]] = {}
        vars(self).pop("_unseen", None)

    def _keep_held(self) -> None:
        """Renew the leases that are over, as a claim renews slots; the page does so while it is open."""
        now = clock.now()
        held = [check for check in self.checks if check.state == SlotState.LEASED]
        over = [check.pk for check in held if check.leased_until is None or check.leased_until < now]
        if over:
            move_checks(Check.objects.filter(pk__in=over), "renew", leased_until=lease_end(self.campaign, now))

    def give(self, ids: Collection[int]) -> None:
        for pk in self.orders.keys() & set(ids):
            Check.objects.filter(pk=pk, state=SlotState.FREE).update(order=self.orders[pk])
        given = Check.objects.filter(pk__in=ids).select_related("gold", "item__triple")
        until = lease_end(self.campaign, clock.now())
        for template, pks in by_template(self.campaign, given):
            move_checks(Check.objects.filter(pk__in=pks), "claim", template=template, leased_until=until)
        self._read()

    def ahead(self, group: int) -> list[int]:
        """Return the re-checks that come before a group, as a question before it would, drawn by person and group.

        One that is new comes only before a group whose free places nobody held yet, and that this person was never
        given, so never for a question that was given back. It keeps that place: given back, it comes again before the
        same group.
        """
        if group not in self._groups:
            back = [pk for pk, item in self._rechecks.items() if item.group == group]
            self._groups[group] = back + self._new(group)
        return self._groups[group]

    def _new(self, group: int) -> list[int]:
        left = [pk for pk in self.waiting if pk not in self.orders]
        places = free_places(self.campaign.pk, self.user.pk, group, clock.now()) if left else Slot.objects.none()
        free = list(places.values_list("item", "item__order", "template"))
        if not free or any(template is not None for _, _, template in free) or self._reached(group) >= 0:
            return []
        order = min(order for _, order, _ in free)
        # of the group and its re-checks, at most half are re-checks
        most = (len({item for item, _, _ in free}) + 1) // 2
        drawn = _digest(self.campaign.seed, self.user.pk, group) % (most + 1)
        mine = Check.objects.filter(campaign=self.campaign, person=self.user, kind=CheckKind.RECHECK, order=order)
        here = left[: max(0, drawn - mine.filter(template__isnull=False).count())]
        self.orders.update(dict.fromkeys(here, order))
        return here

    def among(self, slots: list[Slot], back: Collection[int], room: int) -> tuple[list[Slot], list[int]]:
        """Return what fits of a group and its gold, in the order in which it is shown, so that the hand never exceeds
        its limit; gold that does not fit is due with the other slots.
        """
        back = [pk for pk in back if self._comes_with(self._checks[pk], slots)]
        drawn = self._draw_gold(slots, len(slots[:room]), back) if slots and self.campaign.gold_percent else []
        places: list[tuple[int, int, Slot | int | Gold]] = [(slot.item.order, 2, slot) for slot in slots]
        places += [(self._checks[pk].order, 0, pk) for pk in back]
        places += [(order, 1, gold) for gold, order in drawn]
        shown = [place for _, _, place in sorted(places, key=lambda entry: entry[:2])[:room]]
        mine = [place for place in shown if isinstance(place, Slot)]
        new = [self._give(gold, order, mine or slots) for gold, order in drawn if gold in shown]
        if mine or new:  # with gold alone they were given the question, and of its items none
            order = mine[-1].item.order if mine else max(0, slots[0].item.order - 1)
            self._reach(slots[0].item.group, order)
        return mine, [self._give_again(place, slots) for place in shown if isinstance(place, int)] + new

    def _comes_with(self, check: Check, slots: list[Slot]) -> bool:
        """Return whether gold comes again with these slots: not if somebody else is taking the item beside it now."""
        beside = check.beside
        if beside is None or beside.annotator_id == self.user.pk or beside.item_id in {slot.item_id for slot in slots}:
            return True
        return kept_slots(self.user, [beside.item_id]).exists()

    def _draw_gold(self, slots: list[Slot], taken: int, back: Collection[int]) -> list[tuple[Gold, int]]:
        """Return gold for new slots of one question, each with its order.

        `taken`: how many of them are taken; `back`: checks that come again with them.

        It is due with slots of items after the last that this person was given of the question. What was given back
        comes again without gold beside what it had: a candidate that is new in a question which the person knows
        would be gold. Gold is given out only among the candidates of its own question: a question of its own would be
        recognised by its size. What is due waits for a question that has gold. Each person gets each gold item once.
        """
        question = question_of(slots[0].item)
        fitting = [gold for gold in self._unseen if question_of(gold) == question]
        if not fitting:
            return []
        seed, user = self.campaign.seed, self.user
        fitting.sort(key=lambda gold: _digest(seed, user.pk, gold.pk))
        reached = self._reached(slots[0].item.group)
        fresh = [slot for slot in slots if slot.item.order > reached]
        if not fresh:
            return []
        due = _gold_due(self.campaign, user, fresh[0], taken, [*self._drawn, *back])
        # where a check can be put: before each candidate, or after the last; twice where another check was put, so
        # that every sequence of checks and candidates is as likely
        orders = [slot.item.order for slot in fresh]
        last = max((check.order for check in self.checks if check.gold and question_of(check) == question), default=-1)
        gaps = [order for order in (*orders, orders[-1] + 1) if order > last]  # after gold that they know
        drawn = []
        for gold in fitting[: due if gaps else 0]:
            order = gaps[_digest(seed, user.pk, gold.pk, 1) % len(gaps)]
            gaps.append(order)
            drawn.append((gold, order))
        return drawn

    def _reached(self, group: int) -> int:
        order = _REACHED.first(campaign=self.campaign.pk, person=self.user.pk, group=group)
        return -1 if order is None else order

    def _reach(self, group: int, order: int) -> None:
        """Remember how far this person is with a question: slots that are given back keep no trace of who had them."""
        if order > self._reached(group):
            far = Reached(campaign=self.campaign, person=self.user, group=group, order=order)
            key = ["campaign", "person", "group"]
            Reached.objects.bulk_create([far], update_conflicts=True, unique_fields=key, update_fields=["order"])

    @cached_property
    def _unseen(self) -> list[Gold]:
        seen = Check.objects.filter(_HAD, gold=OuterRef("pk"), person=self.user)
        trained = TrainingQuestion.objects.filter(gold=OuterRef("pk"), training__person=self.user)  # told the answer
        return list(self.campaign.golds.filter(~Exists(seen), ~Exists(trained), is_active=True))

    def _give(self, gold: Gold, order: int, slots: list[Slot]) -> int:
        """Make the check of new gold, beside the one of `slots` that it comes before, or the nearest."""
        beside = min(slots, key=lambda slot: (slot.item.order < order, abs(slot.item.order - order)))
        known = {"campaign": self.campaign, "kind": CheckKind.GOLD, "expected": gold.answer}
        known |= {"order": order, "beside": beside}
        current = Check.objects.exclude(state=SlotState.WITHDRAWN)
        check, _ = current.update_or_create(gold=gold, person=self.user, defaults=known)
        self._unseen.remove(gold)
        self._drawn.append(check.pk)
        return check.pk

    def _give_again(self, pk: int, slots: list[Slot]) -> int:
        """Return the check to give: another one, with its own ticket, where the item beside it has its other slot.

        Of an item a person knows two tickets at most, so what it was replaced by replaces it in turn.
        """
        check = self._checks[pk]
        if check.gold is None or check.beside is None:
            return pk
        slot = {slot.item_id: slot for slot in slots}.get(check.beside.item_id)
        number = None
        if slot is None:  # they kept that item: gold does not go with its other slot, which others took and gave back
            slot = kept_slots(self.user, [check.beside.item_id]).first()
            if slot is not None and not check.went_to_others:
                if check.place == PLACES[0] or not self._first_is_free(slot):
                    Check.objects.filter(pk=pk).update(beside=slot)
                    return pk
                number = PLACES[0]
        elif slot.pk != check.beside_id and check.number == slot.number:
            Check.objects.filter(pk=pk).update(beside=slot, number=None)
            return pk
        if slot is None or (slot.pk == check.beside_id and number is None):
            return pk
        move_checks(Check.objects.filter(pk=pk), "replace")
        others = Check.objects.filter(gold=check.gold, person=self.user, state=SlotState.WITHDRAWN).exclude(pk=pk)
        # the ticket of a slot whose label was taken back is never given again
        known = others.exclude(beside__state=SlotState.WITHDRAWN).order_by("-pk")
        if (other := known.filter(beside=slot).first() or known.first()) is not None:
            mine = Check.objects.filter(pk=other.pk)
            move_checks(mine, "bring back")
            mine.update(beside=slot, number=number)
            return other.pk
        fields = {name: getattr(check, name) for name in ("campaign", "kind", "person", "gold", "expected", "order")}
        return Check.objects.create(**fields, beside=slot, number=number).pk

    def _first_is_free(self, kept: Slot) -> bool:
        """Return whether the first place of an item whose second one this person kept could be taken by somebody.

        Of two free places of an item the first is taken, so one that they had given back would come by it.
        """
        first = Slot.objects.filter(claimable(clock.now()), item=kept.item_id, number=PLACES[0])
        return kept.number != PLACES[0] and first.exists()


_REACHED = Fixed(
    lambda campaign, person, group: Reached.objects.filter(campaign=campaign, person=person, group=group).values_list(
        "order", flat=True
    )
)


def _own_checks(campaign: Campaign, user: User) -> list[Check]:
    """Return the checks that this person holds, or could be given."""
    return _OWN(campaign=campaign.pk, person=user.pk)


_OWN = Fixed(
    lambda campaign, person: (
        Check.objects.filter(campaign=campaign, person=person, state__in=[SlotState.FREE, SlotState.LEASED])
        .select_related("gold", "item__triple", "template", "beside__item")
        .order_by("gold_id", "pk")  # not by pk alone: of two in one place, the one that comes again as a new row stays
    )
)


def _in_order(slots: list[Slot], checks: list[Check]) -> list[Slot | Check]:
    """Sort by order, a check before the item of its order, with the candidates of one question together."""
    places: list[tuple[int, int, Slot | Check]] = [(check.order, 0, check) for check in checks]
    places += [(slot.item.order, 1, slot) for slot in slots]
    groups: dict[Question, list[Slot | Check]] = {}
    for _, _, place in sorted(places, key=lambda entry: entry[:2]):
        groups.setdefault(question_of(place.asked), []).append(place)
    return [place for group in groups.values() for place in group]


def _gold_due(campaign: Campaign, user: User, slot: Slot, more: int, drawn: Collection[int]) -> int:
    """Return how many more gold items this person should have; the fraction is drawn, by person and slot.

    `more`: slots that they are taking now; `drawn`: ids of checks that they are given with these.
    """
    given = Slot.objects.filter(annotator=user, item__campaign=campaign, number__in=PLACES).count() + more
    went = Q(state=SlotState.FREE, beside__annotator__isnull=False) & ~Q(beside__annotator=user)
    mine = Check.objects.filter(campaign=campaign, person=user, kind=CheckKind.GOLD)
    due = given * campaign.gold_percent / 100 - mine.filter((_HAD & ~went) | Q(pk__in=drawn)).count()
    return max(0, math.floor(due + _digest(campaign.seed, user.pk, slot.pk) / 2**64))


def _digest(*numbers: int) -> int:
    return int.from_bytes(hashlib.sha256(repr(numbers).encode()).digest()[:8])


# -- gold items ----------------------------------------------------------------------------------------------


class GoldAdded(NamedTuple):
    added: int
    known: int  # were gold items already


def gold_from_pool(
    campaign: Campaign, *, positives: int, negatives: int, seed: int = 0, by: User | None = None
) -> GoldAdded:
    """Draw gold items: seed triples (answer yes) and filtered triples of inconsistent type (answer no).

    A seed triple shares its question with pooled triples, so that nothing distinguishes it. `seed`: of the draw.
    CampaignError if the pool has fewer.
    """
    rng = np.random.default_rng([seed, campaign.pool_id])
    yes, no = gold_supply(campaign)
    for wanted, there, what in ((positives, yes, "seed"), (negatives, no, "filtered for their type")):
        if wanted > len(there):
            raise CampaignError(
                f"{wanted} gold items of triples {what}: the pool has {len(there)} in the questions that people"
                " are asked. Ask for fewer."
            )
    rows = [
        (*there[i], answer, origin, "", "")
        for there, wanted, answer, origin in (
            (yes, positives, Answer.YES, GoldOrigin.SEED),
            (no, negatives, Answer.NO, GoldOrigin.FILTER),
        )
        for i in rng.permutation(len(there))[:wanted]
    ]
    return _add_gold(campaign, rows, by)


def gold_supply(campaign: Campaign) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]:
    """Return what `gold_from_pool` draws from: seed triples and type-filtered triples of questions that are asked."""
    asked = _asked(campaign)
    # people judge triples of the audit sample
    filtered = campaign.pool.triples.filter(reason=TYPES, item=None)
    yes, no = (
        [row for row in triples.order_by("pk").values_list("head", "relation", "tail") if _side(row, asked)]
        for triples in (campaign.pool.seeds.all(), filtered)
    )
    return yes, no


def gold_from_file(campaign: Campaign, path: Path, *, by: User | None = None) -> GoldAdded:
    """Add gold items of a label file (head, relation, tail, Y or N; a source, if it has one), all or nothing.

    CampaignError names the lines that cannot be gold: unknown names, can't tell, a triple that people label, or one
    whose question has no other candidate, since it would be recognised by standing alone.
    """
    graph = open_graph(campaign.pool.graph)
    # released or not, and those of an audit sample
    asked_of_people = campaign.pool.triples.filter(Q(reason=TO_PEOPLE) | Q(item__isnull=False))
    to_people = set(asked_of_people.values_list("head", "relation", "tail"))
    asked = _asked(campaign)
    problems, rows = Problems(), []
    given: dict[Triple, LabelLine] = {}
    for line in read_label_file(path, graph):
        if not isinstance(line, LabelLine):
            problems.add(f"{path.name}:{line.line}: {line.reason}")
        elif line.answer == Answer.CANT_TELL:
            problems.add(f"{path.name}:{line.line}: a gold item has answer Y or N, not ?")
        elif line.triple in to_people:
            problems.add(f"{path.name}:{line.line}: {IS_ITEM}")
        elif (first := given.setdefault(line.triple, line)).answer != line.answer:
            problems.add(
                f"{path.name}:{line.line}: says {line.answer} of the triple that line {first.line} calls {first.answer}"
            )
        elif not _side(line.triple, asked):
            problems.add(
                f"{path.name}:{line.line}: no question of this campaign asks for this triple, so it would stand alone"
            )
        else:
            rows.append((*line.triple, line.answer, GoldOrigin.FILE, line.source_url, line.passage))
    if problems:
        raise CampaignError(several(problems, "Correct the file; no gold item was added."))
    if not rows:
        raise CampaignError(f"{path.name} has no line with a triple and Y or N; no gold item was added.")
    return _add_gold(campaign, rows, by)


def _add_gold(campaign: Campaign, rows: Sequence[GoldRow], by: User | None) -> GoldAdded:
    asked = _asked(campaign)
    with transaction.atomic():
        held(campaign)  # what others add at the same time is read after them
        present = set(campaign.golds.values_list("head", "relation", "tail"))
        new = {row[:3]: row for row in rows if row[:3] not in present}  # by triple: a repeated one is added once
        Gold.objects.bulk_create(
            Gold(campaign=campaign, created_by=by, side=_side(triple, asked), **dict(zip(_GOLD, row, strict=True)))
            for triple, row in new.items()
        )
        record(by, AnnotationAct.GOLD_ADDED, pool=campaign.pool, about=f"{len(new)} gold items")
    return GoldAdded(len(new), len(rows) - len(new))


def _asked(campaign: Campaign) -> set[Question]:
    """Return the questions that people are asked."""
    rows = campaign.items.values_list("side", "triple__relation", "triple__head", "triple__tail")
    return {Question(side, relation, head if side == Side.TAIL else tail) for side, relation, head, tail in rows}


def _side(triple: tuple[int, int, int], asked: set[Question]) -> str:
    """Return the side of the asked question that has this triple as a candidate; empty if there is none."""
    head, relation, tail = triple
    sides = ((Side.TAIL, head), (Side.HEAD, tail))
    return next((side.value for side, given in sides if Question(side.value, relation, given) in asked), "")


def set_gold_active(campaign: Campaign, ids: Collection[int], active: bool, *, by: User | None = None) -> int:
    """Give gold items out, or no longer; existing answers stay. Return how many changed."""
    with transaction.atomic():
        changed = campaign.golds.filter(pk__in=ids, is_active=not active).update(is_active=active)
        act = AnnotationAct.GOLD_ADDED if active else AnnotationAct.GOLD_REMOVED
        record(by, act, pool=campaign.pool, about=f"{changed} gold items {'given out' if active else 'taken out'}")
    return changed


# -- re-check ------------------------------------------------------------------------------------------------


def recheck_choices(campaign: Campaign, person: User) -> QuerySet[Judgement]:
    """Return final judgements by people that this person did not label, see labels of, or re-check."""
    items = Item.objects.filter(campaign=campaign, state=ItemState.SETTLED, triple=OuterRef("triple"))
    own = Slot.objects.filter(item__triple=OuterRef("triple"), annotator=person)
    saw = Item.seen_by.through.objects.filter(item__triple=OuterRef("triple"), user=person)
    checked = Check.objects.filter(item__triple=OuterRef("triple"), person=person)
    return campaign.pool.judgements.filter(
        Exists(items), ~Exists(own), ~Exists(saw), ~Exists(checked), verdict__in=[Verdict.POSITIVE, Verdict.NEGATIVE]
    )


@transaction.atomic
def draw_recheck(campaign: Campaign, person: User, size: int, *, seed: int = 0, by: User | None = None) -> int:
    """Give a member a seeded sample of final judgements to judge again, half positive and half negative.

    They come unmarked among this person's questions, in a random order. If one half has too few, the other makes up
    for it. Returns how many were drawn; CampaignError if there are none, or the person does not label here.
    """
    if not campaign.members.filter(person=person).exists():
        raise CampaignError(f"{person.username} is not a member of this campaign: add them first.")
    if size < 1:
        raise CampaignError("A sample has at least one judgement.")
    held(campaign)  # what others draw at the same time is read after them
    rng = np.random.default_rng([seed, campaign.pool_id, person.pk])
    choices = recheck_choices(campaign, person).order_by("triple")
    halves = [
        rng.permutation(list(choices.filter(verdict=verdict).values_list("triple", flat=True))).tolist()
        for verdict in (Verdict.POSITIVE, Verdict.NEGATIVE)
    ]
    half = (size + 1) // 2
    positive = min(len(halves[0]), max(half, size - len(halves[1])))
    negative = min(len(halves[1]), size - positive)
    if positive + negative == 0:
        raise CampaignError(f"There is no final judgement that {person.username} could re-check.")
    chosen = [(triple, Answer.YES) for triple in halves[0][:positive]]
    chosen += [(triple, Answer.NO) for triple in halves[1][:negative]]
    items = {item.triple_id: item for item in campaign.items.filter(triple__in=[triple for triple, _ in chosen])}
    sample = {"campaign": campaign, "kind": CheckKind.RECHECK, "person": person}
    Check.objects.bulk_create(
        Check(**sample, item=item, expected=answer, order=item.order)
        for item, answer in ((items[chosen[i][0]], chosen[i][1]) for i in rng.permutation(len(chosen)))
    )
    about = f"{len(chosen)} judgements"
    record(by, AnnotationAct.RECHECK_DRAWN, pool=campaign.pool, subject=person, about=about, seed=seed)
    return len(chosen)
