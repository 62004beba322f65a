"""API v1: the annotation and adjudication pages, and any script, work through these endpoints."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import Http404
from rest_framework import status
from rest_framework.parsers import FormParser, JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api import serializers as data
from annotation.api.base import Endpoint
from annotation.domain import label as labels
from annotation.domain import queue
from annotation.models import Campaign, Label, Slot
from annotation.models.slot import ADJUDICATION
from annotation.permissions import visible_campaigns


def _valid(serializer: Any, request: Request) -> dict[str, Any]:
    filled = serializer(data=request.data)
    filled.is_valid(raise_exception=True)
    result: dict[str, Any] = filled.validated_data
    return result


class Claim(Endpoint):
    """POST {count}: questions to answer, those held first; whole groups, so more may come than asked."""

    take: Callable[..., list[Slot]] = staticmethod(queue.claim)
    show: Callable[..., list[dict[str, Any]]] = staticmethod(data.items_data)

    def post(self, request: Request, pool: str) -> Response:
        campaign = self.campaign(pool)
        asked = _valid(data.ClaimInput, request)
        slots = self.take(campaign, request.user, asked["count"])
        return Response(
            {
                "campaign": data.campaign_data(campaign),
                "items": self.show(campaign, slots),
                "progress": data.progress_data(request.user, campaign),  # type: ignore[arg-type]
            }
        )


class ClaimDisputed(Claim):
    for_adjudicators = True
    take = staticmethod(queue.claim_disputed)
    show = staticmethod(data.disputes_data)


class Submit(Endpoint):
    """POST an answer: how it was kept, and up to `count` next questions when that is asked."""

    numbers = queue.PLACES
    take: Callable[..., list[Slot]] = staticmethod(queue.claim)
    show: Callable[..., list[dict[str, Any]]] = staticmethod(data.items_data)

    def post(self, request: Request) -> Response:
        asked = _valid(data.SubmitInput, request)
        slot_id, lease, count = asked.pop("slot"), asked.pop("lease"), asked.pop("count")
        campaign = self._campaign_of(slot_id)
        result = labels.submit(request.user, slot_id, lease, **asked)  # type: ignore[arg-type]
        content = data.result_data(result)
        content["items"] = self.show(campaign, self.take(campaign, request.user, count)) if count else []
        content["progress"] = data.progress_data(request.user, campaign)  # type: ignore[arg-type]
        return Response(content, status.HTTP_200_OK if result.repeated else status.HTTP_201_CREATED)

    def _campaign_of(self, slot_id: int) -> Campaign:
        seen = visible_campaigns(self.request.user)
        campaign = (
            seen.filter(items__slots__pk=slot_id, items__slots__number__in=self.numbers)
            .prefetch_related("sources")
            .first()
        )
        if campaign is None:
            raise Http404
        self.check_role(campaign)
        return campaign


class SubmitDecision(Submit):
    for_adjudicators = True
    numbers = (ADJUDICATION,)  # type: ignore[assignment]
    take = staticmethod(queue.claim_disputed)
    show = staticmethod(data.disputes_data)


class Change(Endpoint):
    """POST an answer to replace an own label, named by the client_id of its latest version."""

    def post(self, request: Request, label: UUID) -> Response:
        old = Label.objects.filter(client_id=label, annotator=request.user.pk).first()
        if old is None:
            raise Http404
        campaign = visible_campaigns(request.user).filter(items__labels=old).first()
        if campaign is None:
            raise Http404
        self.check_role(campaign)
        result = labels.change(request.user, old.pk, **_valid(data.AnswerInput, request))  # type: ignore[arg-type]
        return Response(data.result_data(result))


class OwnLabels(Endpoint):
    """GET the own last labels of a campaign, newest first."""

    LAST = 50

    def get(self, request: Request, pool: str) -> Response:
        campaign = self.campaign(pool)
        own = list(labels.own_labels(request.user, campaign)[: self.LAST])  # type: ignore[arg-type]
        return Response({"labels": data.labels_data(request.user, campaign, own)})  # type: ignore[arg-type]


class _Leases(Endpoint):
    # a page that is being left sends a form (navigator.sendBeacon cannot set the CSRF header)
    parser_classes = [JSONParser, FormParser]
    act: Callable[..., int]

    def post(self, request: Request) -> Response:
        return Response({"slots": self.act(request.user, _valid(data.SlotsInput, request)["slots"])})


class Renew(_Leases):
    act = staticmethod(queue.renew)


class Release(_Leases):
    act = staticmethod(queue.release)
