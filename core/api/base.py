"""The base of every endpoint of API v1: it checks rights, scopes and size, and turns errors into answers."""

from collections.abc import Collection
from functools import cache
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import exceptions, status
from rest_framework.negotiation import BaseContentNegotiation, DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import FloatField, IntegerField, Serializer
from rest_framework.views import APIView

from core.api.throttle import ByRole
from core.enums import TokenScope
from core.errors import GoneError, TooLargeError, UserError
from core.files.artifacts import ArtifactError
from core.files.bucket import StoreError
from core.forms import name_problem
from core.models import ApiToken
from core.people.roles import can_evaluate

# what a page or a script sends as JSON is far smaller; files have endpoints of their own
MAX_BODY = 100_000  # bytes
_NO_JSON = "JSON parse error - "  # begins what the parser says


class TooLarge(exceptions.APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE

    def __init__(self, most: int, what: str = "This request") -> None:
        size = f"{most // 1_000_000} MB" if most >= 1_000_000 else f"{most // 1000} kB"
        super().__init__(f"{what} is too large: send at most {size}.")


class AnyType(BaseContentNegotiation):
    """Negotiate nothing: the endpoint sends its file whatever type is asked for, and errors as JSON."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return DefaultContentNegotiation().select_parser(request, parsers)


class SignedInRequest(Request):
    """Type of a request to an endpoint: IsAuthenticated has refused anonymous ones."""

    user: User


class Endpoint(APIView):
    """Answer every failure with {"error": "…"} in words, and "fields" if single fields are wrong."""

    request: SignedInRequest
    throttle_classes = [ByRole]
    # method -> scopes, of which a token needs one; other methods need READ if they are safe, MANAGE if not
    scopes: ClassVar[dict[str, tuple[TokenScope, ...]]] = {}
    most_bytes: ClassVar[int] = MAX_BODY
    # domain errors whose status is not 400
    status_of: ClassVar[dict[type[UserError], int]] = {}

    def allowed(self, person: Any) -> bool:
        """Return whether the person may call the endpoint."""
        return can_evaluate(person)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdecimal() or int(length) > self.most_bytes:
            raise TooLarge(self.most_bytes)
        if "HTTP_TRANSFER_ENCODING" in request.META and not request.META.get("CONTENT_LENGTH"):
            # WSGI cannot tell where such a body ends and would read it as empty
            raise exceptions.ParseError("Send the length of the body (Content-Length): from a file, not from a pipe.")
        super().initial(request, *args, **kwargs)
        self._check_scope(request)
        if not self.allowed(request.user):
            raise PermissionDenied(_("Your role may not do this."))

    def _check_scope(self, request: Request) -> None:
        if not isinstance(request.auth, ApiToken) or request.method not in self.allowed_methods:
            return  # 405: no scope would help
        method = request.method or "GET"
        usual = TokenScope.READ if method in ("GET", "HEAD", "OPTIONS") else TokenScope.MANAGE
        needed = self.scopes.get("GET" if method == "HEAD" else method, (usual,))
        if not set(needed) & set(request.auth.scopes):
            named = " or ".join(repr(scope.value) for scope in needed)
            raise PermissionDenied(f"This token lacks the scope {named}: make one that has it.")

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, UserError):
            known: dict[type[UserError], int] = {
                ArtifactError: status.HTTP_503_SERVICE_UNAVAILABLE,
                StoreError: status.HTTP_503_SERVICE_UNAVAILABLE,
                TooLargeError: TooLarge.status_code,
                **self.status_of,
            }
            code = next((known[t] for t in type(exc).__mro__ if t in known), 400)
            return Response({"error": str(exc)}, code)
        if isinstance(exc, GoneError):
            return Response({"error": str(exc)}, status.HTTP_404_NOT_FOUND)
        if isinstance(exc, RequestDataTooBig):  # a form may be as large as its file, but not its fields
            exc = TooLarge(settings.DATA_UPLOAD_MAX_MEMORY_SIZE, "What the form holds beside its file")
        if isinstance(exc, exceptions.ParseError) and str(exc.detail).startswith(_NO_JSON):
            reason = str(exc.detail).removeprefix(_NO_JSON).partition("; use sys.")[0]
            exc.detail = exceptions.ErrorDetail(_("The body is not valid JSON. Nothing was done.") + f" ({reason})")
        if isinstance(exc, SuspiciousOperation | RecursionError | UnicodeError):
            return Response({"error": _("This request cannot be read.")}, status.HTTP_400_BAD_REQUEST)
        if isinstance(exc, Http404 | exceptions.NotFound):
            return Response({"error": _("There is nothing here that you can see.")}, status.HTTP_404_NOT_FOUND)
        if isinstance(exc, PermissionDenied) and str(exc):
            return Response({"error": str(exc)}, status.HTTP_403_FORBIDDEN)
        if isinstance(exc, exceptions.ValidationError):
            detail = _whole(exc.detail)
            return Response({"error": in_words(detail), "fields": detail}, status.HTTP_400_BAD_REQUEST)
        if isinstance(exc, exceptions.NotAuthenticated):
            exc = exceptions.NotAuthenticated("You are not signed in. Send a token: Authorization: Bearer tp_…")
        response = super().handle_exception(exc)
        if isinstance(response.data, dict) and "detail" in response.data:
            response.data = {"error": str(response.data["detail"])}
        return response


def checked(serializer: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return what a request sends, as the serializer reads it; ValidationError names the wrong fields."""
    for name, sent in request.FILES.lists():
        if problem := name_problem(sent):
            raise exceptions.ValidationError({name: [problem]})
    filled = serializer(data=request.data)
    vars(filled)["fields"] = _fields(serializer)
    filled.is_valid(raise_exception=True)
    for name, field in filled.fields.items():
        # Python takes 1_000 for a number
        if isinstance(field, IntegerField | FloatField) and "_" in str(filled.initial_data.get(name)):
            raise exceptions.ValidationError({name: [field.error_messages["invalid"]]})
    return dict(filled.validated_data)


@cache
def _fields(serializer: type[Serializer[Any]]) -> Any:
    """Return the fields of a serializer without data, which keep nothing of what they check: DRF copies each of them
    for every request.
    """
    return serializer().fields


def refuse_unknown(request: Request, known: Collection[str], what: str) -> None:
    """Raise ValidationError for a parameter that the endpoint does not have, such as a misspelt one."""
    if unknown := sorted(set(request.query_params) - set(known)):
        has = ", ".join(sorted(known)) or "none"
        raise exceptions.ValidationError({unknown[0][:80]: f"{what} has no such parameter: it has {has}."})


def _whole(detail: Any) -> Any:
    """Return the detail of a ValidationError without halves of characters, which JSON can send and nobody can write."""
    if isinstance(detail, dict):
        return {field: _whole(part) for field, part in detail.items()}
    return [*map(_whole, detail)] if isinstance(detail, list) else str(detail).encode("utf-8", "replace").decode()


def in_words(detail: Any) -> str:
    """Return the detail of a ValidationError as one sentence."""
    if isinstance(detail, dict):
        return " ".join(
            in_words(part) if field == "non_field_errors" else f"{field}: {in_words(part)}"
            for field, part in detail.items()
        )
    return " ".join(map(in_words, detail)) if isinstance(detail, list) else str(detail)
