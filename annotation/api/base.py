"""The base of the endpoints that label and adjudicate: who may call them, and how they refuse."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework import status
from rest_framework.response import Response

from annotation.errors import AnswerRefused, ConsentNeeded, EvidenceError, NotYours
from annotation.models import Campaign
from annotation.permissions import check_may_work, is_adjudicator, is_annotator, is_person, visible_campaigns
from core.api import base
from core.api.throttle import ByPerson
from core.enums import TokenScope

_CONSENT = "Read how your data is used, and agree to it, before you label."


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
        check_may_work(self.request.user, campaign, is_adjudicator if self.for_adjudicators else is_annotator)
