"""Requests and answers of the API: questions say nothing of who proposed a triple or what others answered."""

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils.crypto import salted_hmac
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.api.cards import Cards, cards_of
from annotation.campaigns.items import ItemRow
from annotation.enums import Answer, CampaignState, Cause, FlagKind
from annotation.judging.judgements import live_labels
from annotation.labelling.disputes import reopening_reasons
from annotation.labelling.own_labels import OwnLabel, changeable_tickets, disputes_left, label_counts, questions_left
from annotation.labelling.question import Question, question_of
from annotation.labelling.queue import MAX_LEASED
from annotation.labelling.submit import MAX_COMMENT, MAX_PASSAGE, SubmitResult
from annotation.messages.flags import MAX_TEXT
from annotation.messages.guidelines import current_guidelines
from annotation.models import Campaign, Check, CheckLabel, Label, Slot
from annotation.models.slot import ADJUDICATION
from annotation.permissions import is_adjudicator
from annotation.quality.annotators import QUICK_MS
from annotation.questions.templates import question_text
from annotation.sources.topics import searched
from annotation.sources.verified import VerifiedSources, verified
from core.api.fields import Choice
from core.people.roles import CampaignRole, can_evaluate
from pooling.enums import TO_PEOPLE
from pooling.graphs.opening import open_graph


class ClaimInput(serializers.Serializer[Any]):
    count = serializers.IntegerField(min_value=1, max_value=MAX_LEASED, default=8)


class ClaimDisputedInput(ClaimInput):
    first = serializers.UUIDField(
        required=False, allow_null=True, help_text="The slot of a dispute that is wanted before all others."
    )


class SlotsInput(serializers.Serializer[Any]):
    slots = serializers.ListField(child=serializers.UUIDField(), max_length=4 * MAX_LEASED)


class AnswerInput(serializers.Serializer[Any]):
    client_id = serializers.UUIDField()
    answer = Choice(choices=Answer.values)
    source_url = serializers.CharField(max_length=2000, allow_blank=True, default="")
    passage = serializers.CharField(max_length=MAX_PASSAGE, allow_blank=True, default="")
    comment = serializers.CharField(max_length=MAX_COMMENT, allow_blank=True, default="")
    active_ms = serializers.IntegerField(min_value=0, default=0)
    away_ms = serializers.IntegerField(min_value=0, default=0)
    is_bulk = serializers.BooleanField(default=False, help_text="Several candidates were answered no at once.")
    cause = Choice(
        choices=Cause.values,
        allow_blank=True,
        default="",
        help_text="Only of a decision, which needs this or a comment.",
    )


class HeldInput(serializers.Serializer[Any]):
    """A question that the person was given: its ticket and the lease that came with it."""

    slot = serializers.UUIDField()
    lease = serializers.UUIDField()


class SubmitInput(AnswerInput, HeldInput):
    count = serializers.IntegerField(min_value=0, max_value=MAX_LEASED, default=0)


class FlagInput(HeldInput):
    client_id = serializers.UUIDField()
    kind = Choice(choices=FlagKind.values)
    text = serializers.CharField(max_length=MAX_TEXT, allow_blank=True, default="")


class ReturnInput(HeldInput):
    reason = serializers.CharField(max_length=MAX_COMMENT)


def campaign_data(campaign: Campaign) -> dict[str, Any]:
    guidelines = current_guidelines(campaign)
    return {
        "pool": campaign.pool.name,
        "state": campaign.state,
        "is_open": campaign.state == CampaignState.OPEN,
        "evidence_rule": campaign.evidence_rule,
        "guidelines_version": guidelines.version if guidelines else None,
        "lease_seconds": campaign.lease_minutes * 60,
    }


def questions_data(
    campaign: Campaign, assigned: Sequence[Slot | Check], sources: VerifiedSources | None = None
) -> dict[str, Any]:
    """Return the questions of slots and checks, read with template and triple, and the sources of their relations."""
    if not assigned:
        return {"items": [], "sources": {}}
    sources = sources or verified(campaign)
    cards = cards_of(campaign.pool.graph)
    items = [_question_data(campaign, cards, given) for given in assigned]
    relations = sorted({item["relation"] for item in items})
    return {"items": items, "sources": {str(r): _sources_data(sources, cards, r) for r in relations}}


def _question_data(campaign: Campaign, cards: Cards, given: Slot | Check) -> dict[str, Any]:
    asked = given.asked
    assert given.template is not None and given.lease is not None and asked is not None
    words = question_text(asked, given.template, cards.graph)
    return {
        "slot": str(given.ticket),
        "lease": str(given.lease),
        "group": _group_key(campaign.pk, question_of(asked)),
        "side": asked.side,
        "relation": asked.triple.relation,
        "question": words.statement,
        "group_question": words.group_question,
        "subject": cards.of(asked.triple.head, asked.triple),
        "object": cards.of(asked.triple.tail, asked.triple),
    }


def _sources_data(sources: VerifiedSources, cards: Cards, relation: int) -> list[dict[str, Any]]:
    """Return where links may go for a relation, and which of these are offered for a search."""
    offered = {source.pk for source in searched(sources, cards.graph, relation)}
    return [
        {"name": one.name, "host": one.host, "search": one.search_url, "offered": one.pk in offered}
        for one in sources.of(relation)
    ]


@lru_cache(10_000)
def _group_key(campaign: int, question: Question) -> str:
    """Return the key that all candidates of a question share, whether they are items or checks."""
    return salted_hmac("annotation.group", f"{campaign}:{tuple(question)}", algorithm="sha256").hexdigest()[:16]


def _answer_data(label: Label | CheckLabel) -> dict[str, str]:
    return {name: getattr(label, name) for name in ("answer", "source_url", "passage", "comment")}


def disputes_data(campaign: Campaign, slots: list[Slot], sources: VerifiedSources | None = None) -> dict[str, Any]:
    """Return disputes as questions with both answers as A and B, in an order drawn for each item, without names."""
    content = questions_data(campaign, slots, sources)
    labels: dict[int, list[Label]] = {}
    present = live_labels().filter(item__in=[slot.item_id for slot in slots])
    for label in present.exclude(slot__number=ADJUDICATION).order_by("slot__number"):
        labels.setdefault(label.item_id, []).append(label)
    reopened = reopening_reasons(campaign, [slot.item for slot in slots])
    for slot, item in zip(slots, content["items"], strict=True):
        item["reopened"] = reopened.get(slot.item_id)
        answers = labels.get(slot.item_id, [])
        random.Random(f"{campaign.seed}:{slot.item_id}").shuffle(answers)
        item["answers"] = [
            {"name": name, **_answer_data(label), "quick": label.active_ms < QUICK_MS and not label.is_bulk}
            for name, label in zip("AB", answers, strict=False)
        ]
    return content


def result_data(result: SubmitResult) -> dict[str, Any]:
    return {
        "label": str(result.label.client_id),
        "kept": "surplus" if result.is_surplus else "label",
        "repeated": result.repeated,
        "message": result.message,
    }


def progress_data(user: User, campaign: Campaign) -> dict[str, int | None]:
    counts = label_counts(user, campaign)
    left = questions_left(user, campaign)
    # unreleased items count too: a count that grows would reveal batches. So do audited triples and gold items: more
    # answers than triples would reveal that some are not of the pool
    asked = campaign.pool.triples.filter(Q(reason=TO_PEOPLE) | Q(item__isnull=False)).count()
    items = asked + campaign.golds.count()
    decides = is_adjudicator(user, campaign)
    return {
        "today": counts.today,
        "total": counts.total,
        "items": items,
        "left": left,
        "decided_today": counts.decided_today if decides else None,
        "decided": counts.decided if decides else None,
        "disputes": disputes_left(user, campaign) if decides else None,
    }


# fields of a campaign that are no rules, or that everybody in it is told
_NOT_RULES = ("id", "pool", "state", "evidence_rule", "lease_minutes", "personal_data", "contact")


class RulesData(serializers.ModelSerializer[Campaign]):
    """How triples come to people, for those who do not label: people who label are told nothing of this."""

    graph = serializers.CharField(source="pool.graph.name")

    class Meta:
        model = Campaign
        fields = ("graph", *(f.name for f in Campaign._meta.fields if f.name not in _NOT_RULES))


class CampaignData(serializers.ModelSerializer[Campaign]):
    pool = serializers.CharField(source="pool.name")
    lease_seconds = serializers.SerializerMethodField()
    roles = serializers.SerializerMethodField(help_text="Your own.")
    rules = serializers.SerializerMethodField(help_text="Null for who labels.")

    class Meta:
        model = Campaign
        fields = ("pool", "state", "evidence_rule", "lease_seconds", "roles", "rules")

    def get_lease_seconds(self, campaign: Campaign) -> int:
        return campaign.lease_minutes * 60

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(choices=CampaignRole.values)))
    def get_roles(self, campaign: Campaign) -> list[str]:
        return sorted(member.role for member in campaign.own)  # type: ignore[attr-defined]  # prefetched by the list

    @extend_schema_field(RulesData(allow_null=True))
    def get_rules(self, campaign: Campaign) -> dict[str, Any] | None:
        return RulesData(campaign).data if can_evaluate(self.context["request"].user) else None


def items_data(campaign: Campaign, rows: list[ItemRow]) -> list[dict[str, Any]]:
    """Return items for managers: triples by their keys, their state, and the batch in which they were given out."""
    graph = open_graph(campaign.pool.graph)
    return [
        {
            "id": row.item.pk,
            "head": graph.entities[row.item.triple.head],
            "relation": graph.relations[row.item.triple.relation],
            "tail": graph.entities[row.item.triple.tail],
            "side": row.item.side,
            "question": row.question,
            "state": row.item.state,
            "verdict": row.verdict or None,
            "labels": row.labels,
            "decisions": row.decisions,
            "reports": row.reports,
            "batch": row.item.batch.number if row.item.batch else None,
        }
        for row in rows
    ]


def labels_data(user: User, campaign: Campaign, own: list[OwnLabel]) -> list[dict[str, Any]]:
    graph = open_graph(campaign.pool.graph)
    changeable = changeable_tickets(user, campaign)
    return [
        {
            "label": str(label.client_id),
            "question": question_text(asked, label.template, graph).statement,
            **_answer_data(label),
            "cause": label.cause,
            "created_at": label.created_at.isoformat(),
            "changeable": ticket in changeable,
        }
        for label, asked, ticket in own
    ]
