"""What goes over the wire: what is asked, and nothing of who proposed it or what others answered."""

import random
from typing import Any
from urllib.parse import quote

from django.contrib.auth.models import User
from rest_framework import serializers

from annotation.domain.label import MAX_COMMENT, SubmitResult, changeable_slots
from annotation.domain.progress import label_counts
from annotation.domain.question import word
from annotation.domain.queue import MAX_LEASED
from annotation.enums import Answer
from annotation.models import Campaign, Label, Slot, Source
from pooling.domain.graph import open_graph

QUICK_MS = 2000  # an answer that took less is pointed out to the adjudicator


class ClaimInput(serializers.Serializer[Any]):
    count = serializers.IntegerField(min_value=1, max_value=MAX_LEASED, default=8)


class SlotsInput(serializers.Serializer[Any]):
    slots = serializers.ListField(child=serializers.IntegerField(min_value=1), max_length=4 * MAX_LEASED)


class AnswerInput(serializers.Serializer[Any]):
    client_id = serializers.UUIDField()
    answer = serializers.ChoiceField(choices=Answer.values)
    source_url = serializers.CharField(max_length=2000, allow_blank=True, default="")
    comment = serializers.CharField(max_length=MAX_COMMENT, allow_blank=True, default="")
    active_ms = serializers.IntegerField(min_value=0, default=0)


class SubmitInput(AnswerInput):
    slot = serializers.IntegerField(min_value=1)
    lease = serializers.UUIDField()
    count = serializers.IntegerField(min_value=0, max_value=MAX_LEASED, default=0)


def campaign_data(campaign: Campaign) -> dict[str, Any]:
    sources: list[Source] = list(campaign.sources.all())
    return {
        "pool": campaign.pool.name,
        "is_open": campaign.state == "open",
        "evidence_rule": campaign.evidence_rule,
        "sources": [{"name": source.name, "host": source.host} for source in sources],
        "guidelines": campaign.guidelines,
        "lease_seconds": campaign.lease_minutes * 60,
    }


def items_data(campaign: Campaign, slots: list[Slot]) -> list[dict[str, Any]]:
    """Slots as the questions that they stand for; each comes with its template and triple (queue.claim)."""
    sources = [source for source in campaign.sources.all() if source.search_url]
    graph = open_graph(campaign.pool.graph)
    found = []
    for slot in slots:
        assert slot.template is not None and slot.lease is not None
        words = word(slot.item, slot.template, graph)
        found.append(
            {
                "slot": slot.pk,
                "lease": str(slot.lease),
                "group": slot.item.group,
                "question": words.statement,
                "group_question": words.group_question,
                "subject": {"key": words.subject_key, "label": words.subject},
                "object": {"key": words.object_key, "label": words.object},
                "searches": [_search(source, words.subject, words.object) for source in sources],
            }
        )
    return found


def _search(source: Source, subject: str, object_: str) -> dict[str, str]:
    def address(query: str) -> str:
        return source.search_url.replace("{query}", quote(query, safe=""))

    return {
        "source": source.name, "both": address(f"{subject} {object_}"), "subject": address(subject),
        "object": address(object_),
    }  # fmt: skip


def disputes_data(campaign: Campaign, slots: list[Slot]) -> list[dict[str, Any]]:
    """Items with both answers as A and B, in an order that is drawn for each item; no names."""
    items = items_data(campaign, slots)
    labels: dict[int, list[Label]] = {}
    present = Label.objects.filter(item__in=[slot.item_id for slot in slots], superseded_by=None)
    for label in present.exclude(slot__number=3).order_by("slot__number"):
        labels.setdefault(label.item_id, []).append(label)
    for slot, item in zip(slots, items, strict=True):
        answers = labels.get(slot.item_id, [])
        random.Random(f"{campaign.seed}:{slot.item_id}").shuffle(answers)
        item["answers"] = [
            {
                "name": name, "answer": label.answer, "source_url": label.source_url,
                "comment": label.comment, "quick": label.active_ms < QUICK_MS,
            }
            for name, label in zip("AB", answers, strict=False)
        ]  # fmt: skip
    return items


def result_data(result: SubmitResult) -> dict[str, Any]:
    return {
        "label": str(result.label.client_id),
        "kept": "surplus" if result.is_surplus else "label",
        "repeated": result.repeated,
        "message": result.message,
    }


def progress_data(user: User, campaign: Campaign) -> dict[str, int]:
    today, total = label_counts(user, campaign)
    return {"today": today, "total": total}


def labels_data(user: User, campaign: Campaign, labels: list[Label]) -> list[dict[str, Any]]:
    graph = open_graph(campaign.pool.graph)
    changeable = changeable_slots(user, campaign)
    return [
        {
            "label": str(label.client_id),
            "question": word(label.item, label.template, graph).statement,
            "answer": label.answer,
            "source_url": label.source_url,
            "comment": label.comment,
            "created_at": label.created_at.isoformat(),
            "changeable": label.slot_id in changeable,
        }
        for label in labels
    ]
