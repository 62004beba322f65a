"""Lists of the API: pages by cursor, filters from an allowlist."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.core.exceptions import ValidationError as DjangoValidationError
from django.db.models import BooleanField, QuerySet
from rest_framework import exceptions
from rest_framework.filters import BaseFilterBackend
from rest_framework.generics import GenericAPIView, get_object_or_404
from rest_framework.mixins import ListModelMixin
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.api.base import Endpoint, refuse_unknown

PAGE, MOST = 100, 1000  # rows of a page: usual, most


class ByCursor(CursorPagination):
    """Page rows, newest first; `next` and `previous` are addresses. Rows that are added meanwhile move no page."""

    page_size = PAGE
    max_page_size = MOST
    page_size_query_param = "page_size"
    ordering = "-pk"

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        try:
            return super().paginate_queryset(queryset, request, view)
        except (exceptions.NotFound, DjangoValidationError, ValueError) as error:  # a position is what somebody sent
            words = "This is not a cursor of this list: follow next from the first page."
            raise exceptions.ValidationError({"cursor": words}) from error

    def get_page_size(self, request: Request) -> int:
        asked = request.query_params.get(self.page_size_query_param)
        if asked is None:
            return PAGE
        if not asked.isascii() or not asked.isdecimal() or not 1 <= int(asked[:9]) <= MOST:
            raise exceptions.ValidationError({"page_size": f"Give a number from 1 to {MOST}."})
        return int(asked)


class Allowed(BaseFilterBackend):
    """Filter by the parameters in the list's `filters` (parameter -> field); refuse any other parameter."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: APIView) -> QuerySet[Any]:
        filters = _filters(view)
        refuse_unknown(request, {*filters, ByCursor.page_size_query_param, ByCursor.cursor_query_param}, "This list")
        for name, field in filters.items():
            if name in request.query_params:
                queryset = queryset.filter(**{field: _value(name, request.query_params[name], queryset, field)})
        return queryset

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        told = {"required": False, "in": "query", "schema": {"type": "string"}}
        return [{"name": name, **told} for name in _filters(view)]


def _filters(view: APIView) -> Mapping[str, str]:
    filters: Mapping[str, str] = getattr(view, "filters", {})
    return filters


def _value(name: str, text: str, queryset: QuerySet[Any], field: str) -> Any:
    """Return the text as a value of the field; raise ValidationError if it is none."""
    if "\0" in text:
        raise exceptions.ValidationError({name: "This holds a character that nothing here has."})
    model: Any = queryset.model
    *steps, last = field.split("__")
    for step in steps:
        model = model._meta.get_field(step).related_model
    column = model._meta.get_field(last)
    if isinstance(column, BooleanField):
        if text not in ("true", "false"):
            raise exceptions.ValidationError({name: "Give true or false."})
        return text == "true"
    try:
        return column.to_python(text)
    except DjangoValidationError as error:
        raise exceptions.ValidationError({name: f"{text[:40]!r} cannot be read."}) from error


class Listing(Endpoint, ListModelMixin, GenericAPIView[Any]):
    """GET a page of rows, the newest first; `next` is the address of the page after it."""

    # A subclass gives `queryset` or get_queryset, `serializer_class` and `filters`; the words above are published.
    pagination_class = ByCursor
    filter_backends = [Allowed]
    filters: ClassVar[Mapping[str, str]] = {}

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.list(request, *args, **kwargs)


class One(Endpoint, GenericAPIView[Any]):
    """GET one row, by what its address names."""

    names: ClassVar[Mapping[str, str]] = {}  # part of the address -> field

    def get_object(self) -> Any:
        asked = {field: self.kwargs[part] for part, field in self.names.items()}
        return get_object_or_404(self.get_queryset(), **asked)

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return Response(self.get_serializer(self.get_object()).data)
