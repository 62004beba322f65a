"""Find items of a campaign by their words, state or people, and read the history of each."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation.enums import AnnotationAct, ItemState, JudgementOrigin, SlotState
from annotation.judging.judgements import live_labels
from annotation.models import Campaign, Check, Flag, ImportedLabel, Item, Judgement, Label, Slot, SurplusLabel
from annotation.models.slot import ADJUDICATION
from annotation.people.simulated import is_simulated
from annotation.questions.templates import statements_now
from core.models import AuditEntry
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Relation
from pooling.questions.relation_names import relation_words

_TABLE_CHUNK = 2000
PARKED = "parked"  # a dispute that waits for an answer to a report
DECIDED = "decided"  # a dispute that an adjudicator settled


@dataclass(frozen=True)
class ItemFilter:
    """What to look for; empty: everything."""

    text: str = ""  # in the name or key of subject, object or relation
    state: str = ""  # an ItemState, PARKED or DECIDED
    relation: int | None = None
    person: int | None = None  # id of somebody who answered or holds it
    verdict: str = ""  # a Verdict that is the judgement now
    sort: str = ""  # a key of SORTS, after "-" the largest first; empty: in the order in which they are given out


class ItemRow(NamedTuple):
    item: Item
    question: str
    verdict: str  # empty: none
    labels: int  # that count, without decisions
    decisions: int  # of adjudicators, that count
    reports: int


_LIVE = Q(labels__superseded_by=None, labels__slot__state=SlotState.ANSWERED)
_DECIDES = Q(labels__slot__number=ADJUDICATION)
# what a list of items can be sorted by
SORTS: dict[str, Any] = {
    "state": F("state"),
    "judgement": F("triple__judgement__verdict"),
    "labels": Count("labels", filter=_LIVE, distinct=True),
    "reports": Count("flags", distinct=True),
    "settled": F("settled_at"),
}


def find_items(campaign: Campaign, wanted: ItemFilter) -> Sequence[int] | QuerySet[Item, int]:
    """Return the ids of matching items, sorted.

    Each word of the text is in a name of the triple; if no item has them all, the text names its two entities, as a
    statement does. Names are compared in memory.
    """
    items = campaign.items.order_by("order")
    if key := SORTS.get(wanted.sort.removeprefix("-")):
        by = F("sorted_by").desc(nulls_last=True) if wanted.sort[0] == "-" else F("sorted_by").asc(nulls_last=True)
        items = items.annotate(sorted_by=key).order_by(by, "order")
    if wanted.verdict:
        waits = Q(state__in=(ItemState.OPEN, ItemState.DISPUTED), triple__judgement__origin=JudgementOrigin.PEOPLE)
        items = items.filter(~waits, triple__judgement__verdict=wanted.verdict)
    if wanted.state == PARKED:
        items = items.filter(Exists(Flag.objects.filter(item=OuterRef("pk"), holds_item=True, replied_at=None)))
    elif wanted.state == DECIDED:
        items = items.filter(Exists(live_labels().filter(item=OuterRef("pk"), slot__number=ADJUDICATION)))
    elif wanted.state:
        items = items.filter(state=wanted.state)
    if wanted.relation is not None:
        items = items.filter(triple__relation=wanted.relation)
    if wanted.person is not None:
        items = items.filter(Exists(Slot.objects.filter(item=OuterRef("pk"), annotator=wanted.person)))
    if not wanted.text:
        return items.values_list("pk", flat=True)
    rows = list(items.values_list("pk", "triple__head", "triple__relation", "triple__tail"))
    graph = open_graph(campaign.pool.graph)
    entities = {entity for row in rows for entity in (row[1], row[3])}
    said = {entity: f"{graph.label(entity)}\n{graph.entities[entity]}".casefold() for entity in entities}
    relations = [_names(graph, index, key) for index, key in enumerate(graph.relations)]
    found, folded = rows, wanted.text.casefold()
    for word in folded.split():
        named = {entity for entity, text in said.items() if word in text}
        called = {index for index, text in enumerate(relations) if word in text}
        found = [row for row in found if row[1] in named or row[3] in named or row[2] in called]
    if not found:  # a whole statement or question
        named = {index for index in entities if _is_named(folded, graph.label(index).casefold())}
        found = [row for row in rows if row[1] in named and row[3] in named]
    return [row[0] for row in found]


def _is_named(text: str, label: str) -> bool:
    """Say whether a text holds a label, both folded, not as a part of a longer word."""
    return label in text and bool(re.search(rf"(?<!\w){re.escape(label)}(?!\w)", text))


def _names(graph: GraphArrays, relation: int, key: str) -> str:
    """Return what a relation is called anywhere: its words, its label and its key."""
    name = graph.relation_name(relation)
    return f"{relation_words(name)}\n{name}\n{key}".casefold()


def item_rows(campaign: Campaign, ids: Iterable[int]) -> list[ItemRow]:
    """Return items by id, in the given order, with the question as it is asked now; three queries."""
    ids = list(ids)
    items = campaign.items.filter(pk__in=ids).select_related("triple__judgement", "batch").order_by()
    items = items.annotate(
        num_labels=Count("labels", filter=_LIVE & ~_DECIDES, distinct=True),
        num_decisions=Count("labels", filter=_LIVE & _DECIDES, distinct=True),
        num_reports=Count("flags", distinct=True),
    )
    by_id = {item.pk: item for item in items}
    found = [by_id[pk] for pk in ids]
    return [
        ItemRow(item, question, _verdict(item), item.num_labels, item.num_decisions, item.num_reports)
        for item, question in zip(found, statements_now(campaign, found), strict=True)
    ]


def assigned_people(ids: Iterable[int]) -> dict[int, list[str]]:
    """Return open item -> names of people who are to be asked about it first and have not answered; one query."""
    through = Item.assigned_to.through
    had = Slot.objects.filter(item=OuterRef("item"), annotator=OuterRef("user")).exclude(state=SlotState.LEASED)
    rows = through.objects.filter(~Exists(had), item__in=list(ids), item__state=ItemState.OPEN)
    found: dict[int, list[str]] = defaultdict(list)
    for pk, name in rows.order_by("user__username").values_list("item", "user__username"):
        found[pk].append(name)
    return dict(found)


def _verdict(item: Item) -> str:
    judgement: Judgement | None = getattr(item.triple, "judgement", None)
    people_decide = item.state in (ItemState.OPEN, ItemState.DISPUTED)  # and have not decided yet
    if judgement is None or (people_decide and judgement.origin != JudgementOrigin.IMPORT):
        return ""
    return judgement.verdict


COLUMNS = (
    "item", "subject", "relation", "object", "question", "state", "judgement", "labels", "decisions", "reports",
    "settled",
)  # fmt: skip


def item_table(campaign: Campaign, wanted: ItemFilter) -> list[tuple[object, ...]]:
    """Return all matching items as rows below COLUMNS: names by key, the time (UTC) at which each was settled."""
    graph, ids = open_graph(campaign.pool.graph), list(find_items(campaign, wanted))
    found: list[tuple[object, ...]] = [COLUMNS]
    for start in range(0, len(ids), _TABLE_CHUNK):
        for row in item_rows(campaign, ids[start : start + _TABLE_CHUNK]):
            triple, settled = row.item.triple, row.item.settled_at
            names = graph.entities[triple.head], graph.relations[triple.relation], graph.entities[triple.tail]
            at = settled.isoformat(timespec="seconds") if settled else None
            counts = row.labels, row.decisions, row.reports
            found.append((row.item.pk, *names, row.question, row.item.state, row.verdict, *counts, at))
    return found


def relations_asked(campaign: Campaign) -> QuerySet[Relation]:
    """Return the relations of its items, by key."""
    asked = campaign.items.order_by().values("triple__relation").distinct()
    return campaign.pool.graph.relations.filter(index__in=asked).order_by("key")


def people_who_answered(campaign: Campaign) -> QuerySet[User]:
    """Return who holds or held a slot here, or is a member, by name."""
    # from the items of this campaign, not from each person: people may have labelled much elsewhere
    slots = Slot.objects.filter(item__campaign=campaign).exclude(annotator=None).values("annotator")
    members = campaign.members.values("person")
    return User.objects.filter(Q(pk__in=slots) | Q(pk__in=members)).order_by("username")


@dataclass(frozen=True)
class History:
    """Everything that happened to one item."""

    labels: list[Label]  # by place, each version; slot and superseded_by say which count
    held: list[Slot]
    surplus: list[SurplusLabel]
    flags: list[Flag]
    imported: list[ImportedLabel]
    rechecks: list[Check]
    judgement: Judgement | None
    acts: list[AuditEntry]  # reopened, sent back

    @property
    def is_simulated(self) -> bool:
        """Whether simulated people alone gave the labels that count."""
        live = [
            one for one in self.labels if one.slot.state == SlotState.ANSWERED and not hasattr(one, "superseded_by")
        ]
        return bool(live) and all(is_simulated(label.annotator) for label in live)

    @property
    def decision(self) -> str:
        """The answer of an adjudicator that counts; empty without one."""
        for label in self.labels:
            counts = label.slot.state == SlotState.ANSWERED and not hasattr(label, "superseded_by")
            if counts and label.slot.number == ADJUDICATION:
                return label.answer
        return ""

    @property
    def is_adjudicated(self) -> bool:
        """Whether an adjudicator's answer counts."""
        return bool(self.decision)


def history(item: Item) -> History:
    """Return all that happened to an item, oldest first, in a fixed number of queries."""
    acts = AuditEntry.objects.filter(
        pool=item.campaign.pool_id,
        about=f"item {item.pk}",
        act__in=[AnnotationAct.JUDGEMENT_REOPENED, AnnotationAct.ITEM_RETURNED],
    )
    labels = item.labels.select_related("slot", "annotator", "template", "superseded_by")
    return History(
        labels=list(labels.order_by("pk")),
        held=list(item.slots.filter(state=SlotState.LEASED).select_related("annotator").order_by("number")),
        surplus=list(item.surplus_labels.select_related("annotator", "template").order_by("pk")),
        flags=list(item.flags.select_related("person", "replied_by", "template").order_by("pk")),
        imported=list(item.triple.imported_labels.order_by("pk")),
        rechecks=list(item.checks.select_related("person").prefetch_related("labels").order_by("pk")),
        judgement=Judgement.objects.filter(triple=item.triple_id).first(),
        acts=list(acts.select_related("person").order_by("pk")),
    )
