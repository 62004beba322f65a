"""What every endpoint of API v1 shares: who may call it, and how it says no."""

from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from rest_framework import exceptions, status
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.errors import AnswerRefused, ConsentNeeded, EvidenceError, NotYours
from annotation.models import Campaign
from annotation.permissions import has_consented, is_adjudicator, is_annotator, visible_campaigns
from pooling.errors import UserError


class SignedIn(SessionAuthentication):
    """Sessions with CSRF; who is not signed in gets 401, not 403."""

    def authenticate_header(self, request: Request) -> str:
        return "Session"


STATUS: dict[type[UserError], int] = {
    EvidenceError: status.HTTP_422_UNPROCESSABLE_ENTITY,
    AnswerRefused: status.HTTP_409_CONFLICT,
    NotYours: status.HTTP_404_NOT_FOUND,
}


# what a page sends is far smaller; a list of a million tickets would be read and checked one by one
MAX_BODY = 100_000  # bytes
_CONSENT = "Read how your data is used, and agree to it, before you label."


class TooLarge(exceptions.APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = f"This request is too large: send at most {MAX_BODY // 1000} kB."


class Endpoint(APIView):
    authentication_classes = [SignedIn]
    # whose endpoint it is: annotators (adjudicators may annotate too) unless it says otherwise
    for_adjudicators = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY:
            raise TooLarge
        super().initial(request, *args, **kwargs)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, ConsentNeeded):
            told = {"error": _CONSENT, "consent": reverse("consent", args=[exc.pool])}
            return Response(told, status.HTTP_403_FORBIDDEN)
        if isinstance(exc, UserError):
            return Response({"error": str(exc)}, STATUS.get(type(exc), status.HTTP_400_BAD_REQUEST))
        if isinstance(exc, SuspiciousOperation | RecursionError | UnicodeError):
            return Response({"error": "This request cannot be read."}, status.HTTP_400_BAD_REQUEST)
        if isinstance(exc, Http404 | exceptions.NotFound):
            return Response({"error": "There is nothing here that you can see."}, status.HTTP_404_NOT_FOUND)
        if isinstance(exc, exceptions.ValidationError):
            return Response(
                {"error": _in_words(exc.detail), "fields": exc.detail}, status.HTTP_400_BAD_REQUEST
            )
        response = super().handle_exception(exc)
        if isinstance(response.data, dict) and "detail" in response.data:
            response.data = {"error": str(response.data["detail"])}
        return response

    def seen(self) -> QuerySet[Campaign]:
        """Every look-up starts from what this person may see."""
        return visible_campaigns(self.request.user)

    def campaign(self, pool: str) -> Campaign:
        """The campaign, if this person may see it (else 404) and work in it (else 403)."""
        found = self.seen().filter(pool__name=pool).first()
        if found is None:
            raise Http404
        self.check_role(found)
        return found

    def check_role(self, campaign: Campaign) -> None:
        allowed = is_adjudicator if self.for_adjudicators else is_annotator
        if not allowed(self.request.user, campaign):
            raise PermissionDenied
        if not has_consented(self.request.user, campaign):
            raise ConsentNeeded(campaign.pool.name, "")


def _in_words(detail: Any) -> str:
    if isinstance(detail, dict):
        return " ".join(
            _in_words(part) if field == "non_field_errors" else f"{field}: {_in_words(part)}"
            for field, part in detail.items()
        )
    return " ".join(map(_in_words, detail)) if isinstance(detail, list) else str(detail)
