"""API endpoints through which the annotation and adjudication pages, and any script, label and decide."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import FormParser, JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api import schema
from annotation.api import serializers as data
from annotation.errors import AnswerRefused, ConsentNeeded, EvidenceError, NotYours, TrainingNeeded
from annotation.judging.waiting import seconds_to_next_dispute
from annotation.labelling import queue, withdraw
from annotation.labelling import submit as labels
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.own_labels import own_labels
from annotation.labelling.places import KnownLabel, Place, place_and_label, place_of_label, place_of_ticket
from annotation.labelling.training import check_trained
from annotation.messages import flags
from annotation.models import Campaign, Label
from annotation.models.slot import ADJUDICATION, PLACES, lease_of
from annotation.permissions import check_may_work, is_adjudicator, is_person, visible_campaign, visible_campaigns
from annotation.quality import checks as check
from annotation.sources.verified import VerifiedSources, verified
from core.api import base
from core.api.base import SignedInRequest, checked
from core.api.listing import ByCursor, Listing
from core.api.throttle import ByPerson
from core.enums import TokenScope
from core.people.roles import Right

TRAIN_FIRST = _("This campaign begins with a training. Pass it before you label.")
_CONSENT = _("Read how your data is used, and agree to it, before you label.")


class Endpoint(base.Endpoint):
    throttle_classes = [ByPerson]
    scopes = {"GET": (TokenScope.LABEL,), "POST": (TokenScope.LABEL,)}
    status_of = {
        EvidenceError: status.HTTP_422_UNPROCESSABLE_ENTITY,
        AnswerRefused: status.HTTP_409_CONFLICT,
        NotYours: status.HTTP_404_NOT_FOUND,
    }
    # whose endpoint it is: annotators (adjudicators may annotate too) unless it says otherwise
    for_adjudicators = False

    def allowed(self, person: Any) -> bool:
        return is_person(person)  # what they may do is a matter of the campaign: see check_role

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, ConsentNeeded):
            told = {"error": _CONSENT, "consent": reverse("consent", args=[exc.pool])}
            return Response(told, status.HTTP_403_FORBIDDEN)
        if isinstance(exc, TrainingNeeded):
            told = {"error": str(TRAIN_FIRST), "training": reverse("campaign-training", args=[exc.pool])}
            return Response(told, status.HTTP_403_FORBIDDEN)
        return super().handle_exception(exc)

    def seen(self) -> QuerySet[Campaign]:
        """Return the campaigns that this person may see, from which every look-up starts."""
        return visible_campaigns(self.request.user)

    def campaign(self, pool: str) -> Campaign:
        """Return the campaign; Http404 if this person may not see it, PermissionDenied if they may not work in it."""
        found = get_object_or_404(self.seen(), pool__name=pool)
        self.check_role(found)
        return found

    def check_role(self, campaign: Campaign) -> None:
        check_may_work(self.request.user, campaign, Right.ADJUDICATE if self.for_adjudicators else Right.ANNOTATE)

    def check_place(self, campaign: Campaign, place: Place) -> None:
        """Check the role for a question; a decision is an adjudicator's, also one that they made as one before."""
        self.check_role(campaign)
        if place.needs_reason and not (self.for_adjudicators or is_adjudicator(self.request.user, campaign)):
            raise PermissionDenied


_NO_MEMBER = _("You are no longer a member of this campaign: nothing was saved. Ask a manager to add you again.")


class Claim(Endpoint):
    """POST {count}: questions to answer, those held first; whole groups, so more may come than asked."""

    @extend_schema(request=data.ClaimInput, responses=schema.Claimed)
    def post(self, request: SignedInRequest, pool: str) -> Response:
        campaign = self.campaign(pool)
        check_trained(campaign, request.user)
        places = check.claim_questions(campaign, request.user, checked(data.ClaimInput, request)["count"])
        return Response({"campaign": data.campaign_data(campaign)} | data.questions_data(campaign, places))


class ClaimDisputed(Endpoint):
    """POST {count, first}: disputes to decide; without any, how soon the next one may be given out."""

    for_adjudicators = True

    @extend_schema(request=data.ClaimDisputedInput, responses=schema.ClaimedDisputes)
    def post(self, request: SignedInRequest, pool: str) -> Response:
        campaign = self.campaign(pool)
        asked = checked(data.ClaimDisputedInput, request)
        slots = queue.claim_disputed(campaign, request.user, asked["count"], first=asked.get("first"))
        wait = None if slots else seconds_to_next_dispute(campaign, request.user)
        content = {"campaign": data.campaign_data(campaign), "opens_in_seconds": wait}
        return Response(content | data.disputes_data(campaign, slots))


class _OfTicket(Endpoint):
    """The base of endpoints that name a question by its ticket: 404 if this person may not see it."""

    place: Place | None = None

    def find(self, ticket: UUID) -> Place | None:
        return place_of_ticket(ticket)

    def campaign_of(self, ticket: UUID, lease: UUID) -> Campaign:
        user = self.request.user
        self.place = place = self.find(ticket) if is_person(user) else None
        # adjudicators may annotate too, so some endpoints take both; only they have third slots
        numbers = (ADJUDICATION,) if self.for_adjudicators else self.numbers
        campaign = place.campaign_id if place is not None and place.number in numbers else None
        found = None if campaign is None else visible_campaign(self.request.user, campaign)
        if found is None and campaign is not None and lease == lease_of(ticket, user.pk or 0):
            raise PermissionDenied(_NO_MEMBER)  # they held it once, so this tells them nothing new
        if found is None or place is None:
            raise Http404
        self.check_place(found, place)
        return found

    numbers: tuple[int, ...] = PLACES


class Submit(_OfTicket):
    """POST an answer: how it was kept, and up to `count` next questions when that is asked."""

    given: GivenAnswer
    label: KnownLabel | None = None

    def find(self, ticket: UUID) -> Place | None:
        place, self.label = place_and_label(ticket, self.given.client_id)
        return place

    def next(self, campaign: Campaign, count: int, sources: VerifiedSources) -> dict[str, Any]:
        places = check.claim_questions(campaign, self.request.user, count) if count else []
        return data.questions_data(campaign, places, sources)

    @extend_schema(request=data.SubmitInput, responses={200: schema.Submitted, 201: schema.Submitted})
    def post(self, request: SignedInRequest) -> Response:
        asked = checked(data.SubmitInput, request)
        ticket, lease, count = asked.pop("slot"), asked.pop("lease"), asked.pop("count")
        given = self.given = GivenAnswer(**asked)
        campaign = self.campaign_of(ticket, lease)
        sources, found = verified(campaign), (self.place, self.label)
        result = labels.submit(request.user, ticket, lease, given, sources=sources, found=found)
        content = data.result_data(result) | {"state": campaign.state} | self.next(campaign, count, sources)
        return Response(content, status.HTTP_200_OK if result.repeated else status.HTTP_201_CREATED)


@extend_schema_view(post=extend_schema(responses={200: schema.Decided, 201: schema.Decided}))
class SubmitDecision(Submit):
    """POST a decision of a dispute: how it was kept, and up to `count` next disputes when that is asked."""

    for_adjudicators = True

    def next(self, campaign: Campaign, count: int, sources: VerifiedSources) -> dict[str, Any]:
        slots = queue.claim_disputed(campaign, self.request.user, count) if count else []
        return data.disputes_data(campaign, slots, sources)


class ReturnDispute(_OfTicket):
    """POST {slot, lease, reason}: a dispute goes back: both labels are discarded, and two other people are asked."""

    for_adjudicators = True

    @extend_schema(request=data.ReturnInput, responses=schema.Returned)
    def post(self, request: SignedInRequest) -> Response:
        asked = checked(data.ReturnInput, request)
        self.campaign_of(asked["slot"], asked["lease"])
        withdraw.return_dispute(request.user, asked["slot"], asked["lease"], asked["reason"])
        return Response({"returned": True})


class Report(_OfTicket):
    """POST a report of a question; the question stays to be answered, but for a dispute that needs other words."""

    numbers = (*PLACES, ADJUDICATION)

    @extend_schema(request=data.FlagInput, responses={201: schema.Reported})
    def post(self, request: SignedInRequest) -> Response:
        asked = checked(data.FlagInput, request)
        self.campaign_of(asked["slot"], asked["lease"])
        kept = flags.report(request.user, *(asked[key] for key in ("slot", "lease", "client_id", "kind", "text")))
        content = {"flag": str(kept.client_id), "held": kept.holds_item}
        return Response(content, status.HTTP_201_CREATED)


class Change(Endpoint):
    """POST an answer to replace an own label, named by the client_id of one of its versions."""

    @extend_schema(request=data.AnswerInput, responses=schema.Kept)
    def post(self, request: SignedInRequest, label: UUID) -> Response:
        place = place_of_label(request.user, label)
        campaign = visible_campaign(self.request.user, place.campaign_id) if place is not None else None
        if campaign is None or place is None:
            raise Http404
        self.check_place(campaign, place)
        given = GivenAnswer(**checked(data.AnswerInput, request))
        result = labels.change(request.user, label, given, found=place)
        return Response(data.result_data(result))


class ByTime(ByCursor):
    ordering = "-created_at"


class OwnLabels(Endpoint, Listing):
    """GET the own present labels of a campaign, newest first."""

    queryset = Label.objects.none()
    serializer_class = schema.OwnLabelData
    pagination_class = ByTime

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        user, campaign = self.request.user, self.campaign(kwargs["pool"])
        own: Any = own_labels(user, campaign)  # read as a queryset is
        page = self.paginate_queryset(self.filter_queryset(own))
        return self.get_paginated_response(data.labels_data(user, campaign, list(page or [])))


class Progress(Endpoint):
    """GET the own labels today and in all, and how many triples of the pool people are asked about."""

    @extend_schema(responses=schema.ProgressData)
    def get(self, request: SignedInRequest, pool: str) -> Response:
        return Response(data.progress_data(request.user, self.campaign(pool)))


class _Leases(Endpoint):
    # a page that is being left sends a form (navigator.sendBeacon cannot set the CSRF header)
    parser_classes = [JSONParser, FormParser]
    act: Callable[..., int]

    @extend_schema(request=data.SlotsInput, responses=schema.Counted)
    def post(self, request: SignedInRequest) -> Response:
        return Response({"slots": self.act(request.user, checked(data.SlotsInput, request)["slots"])})


class Renew(_Leases):
    """POST {slots}: the leases begin anew; how many were yours."""

    act = staticmethod(queue.renew)


class Release(_Leases):
    """POST {slots}: gives back what is not answered; how many were yours."""

    act = staticmethod(queue.release)
