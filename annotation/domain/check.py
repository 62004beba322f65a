"""Checks: gold items among the questions of annotators, and final judgements that an expert judges again.

Outside they look like slots. Their answers live apart and enter no judgement, agreement figure or measure.
"""

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.domain.label_file import LabelLine, read_label_file
from annotation.domain.moves import move_checks
from annotation.domain.queue import claim_new, newest_templates
from annotation.enums import Answer, CampaignState, CheckKind, GoldOrigin, ItemState, SlotState, Verdict
from annotation.errors import CampaignError
from annotation.models import Campaign, Check, Gold, Item, Judgement, Slot
from pooling.domain.audit import record
from pooling.domain.graph import open_graph
from pooling.domain.pool_files import several
from pooling.enums import AuditAct, FilterReason, Side

Question = tuple[str, int, int]  # side, relation, the entity that is not masked


def question_of(asked: "Item | Check | Gold") -> Question:
    """What the items of one group have in common."""
    triple = asked if isinstance(asked, Gold) else asked.triple
    return asked.side, triple.relation, triple.head if asked.side == Side.TAIL else triple.tail


# -- giving them out -----------------------------------------------------------------------------------------


def claim_questions(campaign: Campaign, user: User, count: int = 8) -> list[Slot | Check]:
    """Slots as queue.claim leases them, and among them the checks of this person, all in one order."""
    slots, new = claim_new(campaign, user, count)
    checks = _own_checks(campaign, user)
    again = [check for check in checks if check.kind == CheckKind.RECHECK]
    wanted = [check.pk for check in again if check.state == SlotState.FREE]
    wanted = wanted[: max(0, count - (len(again) - len(wanted)))]
    if campaign.state == CampaignState.OPEN and (wanted or (campaign.gold_percent and new)):
        with transaction.atomic():
            _hold(campaign, wanted + _draw_gold(campaign, user, slots, new))
        checks = _own_checks(campaign, user)
    return _in_order(slots, [check for check in checks if check.state == SlotState.LEASED])


def _own_checks(campaign: Campaign, user: User) -> list[Check]:
    """Those that this person holds, or could be given."""
    mine = Check.objects.filter(campaign=campaign, person=user, state__in=[SlotState.FREE, SlotState.LEASED])
    return list(mine.select_related("gold", "item__triple", "template").order_by("pk"))


def _in_order(slots: list[Slot], checks: list[Check]) -> list[Slot | Check]:
    """By order; a check comes after the item of its order, and the candidates of one question stay together."""
    places: list[tuple[int, int, Slot | Check]] = [(slot.item.order, 0, slot) for slot in slots]
    places += [(check.order, check.pk, check) for check in checks]
    groups: dict[Question, list[Slot | Check]] = {}
    for _, _, place in sorted(places, key=lambda entry: entry[:2]):
        groups.setdefault(question_of(place.item if isinstance(place, Slot) else place), []).append(place)
    return [place for group in groups.values() for place in group]


def _hold(campaign: Campaign, ids: list[int]) -> None:
    """Lease checks, each with the question template that is shown now."""
    free = Check.objects.filter(pk__in=ids).select_related("gold", "item__triple")
    by_relation: dict[int, list[int]] = {}
    for check in free:
        by_relation.setdefault(check.triple.relation, []).append(check.pk)
    templates = newest_templates(campaign, by_relation.keys()) if by_relation else {}
    for relation, pks in by_relation.items():
        move_checks(Check.objects.filter(pk__in=pks), "claim", template=templates[relation])


def _draw_gold(campaign: Campaign, user: User, slots: list[Slot], new: Collection[int]) -> list[int]:
    """Ids of the checks that go with newly leased slots: after each with probability gold_percent / 100.

    A gold item of the same question is preferred and stands among its candidates; any other comes after the
    last of them, as a question of its own, unless its question is another one in hand: then its turn is there.
    Each person gets each gold item once.
    """
    drawn = [slot for slot in slots if slot.pk in new and _luck(campaign, user, slot) < campaign.gold_percent]
    if not drawn:
        return []
    seen = Check.objects.filter(gold=OuterRef("pk"), person=user).exclude(state=SlotState.FREE)
    left = list(campaign.golds.filter(~Exists(seen), is_active=True))
    in_hand = {question_of(slot.item) for slot in slots}
    ends: dict[int, int] = {}
    for slot in slots:
        ends[slot.item.group] = max(slot.item.order, ends.get(slot.item.group, 0))
    found = []
    for slot in drawn:
        question = question_of(slot.item)
        fitting = [gold for gold in left if question_of(gold) == question]
        others = [gold for gold in left if question_of(gold) not in in_hand]
        if not (fitting or others):
            continue
        gold = min(fitting or others, key=lambda gold: _digest(campaign.seed, user.pk, slot.pk, gold.pk))
        left.remove(gold)
        order = slot.item.order if fitting else ends[slot.item.group]
        check, _ = Check.objects.update_or_create(
            gold=gold, person=user,
            defaults={"campaign": campaign, "kind": CheckKind.GOLD, "expected": gold.answer, "order": order},
        )  # fmt: skip
        found.append(check.pk)
    return found


def _luck(campaign: Campaign, user: User, slot: Slot) -> float:
    """Uniform in [0, 100), the same for the same person and slot."""
    return _digest(campaign.seed, user.pk, slot.pk) / 2**64 * 100


def _digest(*numbers: int) -> int:
    return int.from_bytes(hashlib.sha256(repr(numbers).encode()).digest()[:8])


# -- gold items ----------------------------------------------------------------------------------------------


class GoldAdded(NamedTuple):
    added: int
    known: int  # were gold items before


def gold_from_pool(
    campaign: Campaign, *, positives: int, negatives: int, seed: int = 0, by: User | None = None
) -> GoldAdded:
    """Draw gold items: seed triples (answer yes) and filtered triples of inconsistent type (answer no).

    A seed triple shares its question with pooled triples, so that nothing tells it from them. CampaignError
    when the pool has fewer. `seed`: of the draw.
    """
    rng = np.random.default_rng([seed, campaign.pool_id])
    pool = campaign.pool
    yes = list(pool.seeds.order_by("pk").values_list("head", "relation", "tail"))
    filtered = pool.triples.filter(reason=FilterReason.TYPES).order_by("pk")
    no = list(filtered.values_list("head", "relation", "tail"))
    for wanted, there, what in ((positives, yes, "seed"), (negatives, no, "filtered for their type")):
        if wanted > len(there):
            raise CampaignError(
                f"{wanted} gold items of triples {what}: the pool has {len(there)}. Ask for fewer."
            )
    rows = [
        (*there[i], answer, origin)
        for there, wanted, answer, origin in (
            (yes, positives, Answer.YES, GoldOrigin.SEED), (no, negatives, Answer.NO, GoldOrigin.FILTER),
        )
        for i in rng.permutation(len(there))[:wanted]
    ]  # fmt: skip
    return _add_gold(campaign, rows, by)


def gold_from_file(campaign: Campaign, path: Path, *, by: User | None = None) -> GoldAdded:
    """Gold items of a label file (TSV head, relation, tail, Y or N): all or nothing.

    CampaignError names the lines that cannot be gold: unknown names, can't tell, a triple that people label.
    """
    graph = open_graph(campaign.pool.graph)
    to_people = set(campaign.items.values_list("triple__head", "triple__relation", "triple__tail"))
    problems, rows = [], []
    for line in read_label_file(path, graph):
        if not isinstance(line, LabelLine):
            problems.append(f"{path.name}:{line.line}: {line.reason}")
        elif line.answer == Answer.CANT_TELL:
            problems.append(f"{path.name}:{line.line}: a gold item has answer Y or N, not ?")
        elif line.triple in to_people:
            problems.append(f"{path.name}:{line.line}: people label this triple, so it cannot be a gold item")
        else:
            rows.append((*line.triple, line.answer, GoldOrigin.FILE))
    if problems:
        raise CampaignError(several(problems, "Correct the file; no gold item was added."))
    return _add_gold(campaign, rows, by)


def _add_gold(
    campaign: Campaign, rows: Sequence[tuple[int, int, int, str, str]], by: User | None
) -> GoldAdded:
    present = set(campaign.golds.values_list("head", "relation", "tail"))
    new = {row[:3]: row for row in rows if row[:3] not in present}
    asked = {question_of(item) for item in campaign.items.select_related("triple")} if new else set()
    with transaction.atomic():
        Gold.objects.bulk_create(
            Gold(
                campaign=campaign, head=head, relation=relation, tail=tail, answer=answer, origin=origin,
                side=Side.HEAD if (Side.HEAD, relation, tail) in asked and (Side.TAIL, relation, head) not in asked
                else Side.TAIL,
                created_by=by,
            )
            for head, relation, tail, answer, origin in new.values()
        )  # fmt: skip
        record(by, AuditAct.GOLD_ADDED, pool=campaign.pool, about=f"{len(new)} gold items")
    return GoldAdded(len(new), len(rows) - len(new))


def set_gold_active(campaign: Campaign, ids: Collection[int], active: bool, *, by: User | None = None) -> int:
    """Give gold items out, or no longer; answers that were given stay. How many changed."""
    with transaction.atomic():
        changed = campaign.golds.filter(pk__in=ids, is_active=not active).update(is_active=active)
        act = AuditAct.GOLD_ADDED if active else AuditAct.GOLD_REMOVED
        record(
            by,
            act,
            pool=campaign.pool,
            about=f"{changed} gold items {'given out' if active else 'taken out'}",
        )
    return changed


# -- re-check ------------------------------------------------------------------------------------------------


def recheck_choices(campaign: Campaign, person: User) -> QuerySet[Judgement]:
    """Final judgements by people that this person had no part in and has not re-checked."""
    items = Item.objects.filter(campaign=campaign, state=ItemState.SETTLED, triple=OuterRef("triple"))
    own = Slot.objects.filter(item__triple=OuterRef("triple"), annotator=person)
    checked = Check.objects.filter(item__triple=OuterRef("triple"), person=person)
    return campaign.pool.judgements.filter(
        Exists(items), ~Exists(own), ~Exists(checked), verdict__in=[Verdict.POSITIVE, Verdict.NEGATIVE]
    )


def draw_recheck(
    campaign: Campaign, person: User, size: int, *, seed: int = 0, by: User | None = None
) -> int:
    """Give a member a seeded sample of final judgements to judge again, half positive and half negative.

    They come unmarked among this person's questions. Where one half has too few, the other makes up for it.
    Returns how many were drawn; CampaignError when there are none, or the person does not label here.
    """
    if not campaign.members.filter(person=person).exists():
        raise CampaignError(f"{person.username} is no member of this campaign: add them first.")
    if size < 1:
        raise CampaignError("A sample has at least one judgement.")
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
    items = {
        item.triple_id: item for item in campaign.items.filter(triple__in=[triple for triple, _ in chosen])
    }
    with transaction.atomic():
        Check.objects.bulk_create(
            Check(
                campaign=campaign, kind=CheckKind.RECHECK, person=person, item=items[triple], expected=answer,
                order=items[triple].order,
            )
            for triple, answer in chosen
        )  # fmt: skip
        record(
            by,
            AuditAct.RECHECK_DRAWN,
            pool=campaign.pool,
            subject=person,
            about=f"{len(chosen)} judgements",
            seed=seed,
        )
    return len(chosen)
