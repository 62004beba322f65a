"""API endpoints of a pool's qrels, frozen here or imported, and of its lists in TREC form."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.base import MAX_BODY, AnyType, Endpoint, SignedInRequest, checked
from core.api.listing import Listing, One
from core.enums import TokenScope
from core.people.permissions import can_manage
from core.views.downloads import stream_response
from evaluation.api import serializers as data
from evaluation.forms.qrels import MOST_BYTES
from evaluation.labels.import_qrels import import_qrels
from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Qrels
from evaluation.test_sets.trec import TREC_TYPE, trec_lists
from pooling.runs.trec_write import pieces
from pooling.views.find import find_pool

FILE = OpenApiParameter("file", str, "path", enum=["topics.tsv", "pool.txt", "qrels.txt"])


class PoolQrels(Listing):
    """GET the qrels of a pool. POST freezes the judgements of this moment, for managers."""

    queryset = Qrels.objects.select_related("pool", "created_by")
    serializer_class = data.QrelsData
    filters = {"origin": "origin"}

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return super().filter_queryset(queryset.filter(pool=find_pool(self.kwargs["pool"])))

    @extend_schema(request=data.FreezeInput, responses={201: data.QrelsData})
    def post(self, request: SignedInRequest, pool: str) -> Response:
        if not can_manage(request.user):
            self.permission_denied(request)
        found = find_pool(pool)
        asked = checked(data.FreezeInput, request)
        qrels = freeze_qrels(found, user=request.user, **asked)
        return Response(data.QrelsData(qrels).data, status.HTTP_201_CREATED)


class ImportedQrels(Endpoint):
    """POST judgements made elsewhere, which become a label set, for managers."""

    parser_classes = [MultiPartParser]
    scopes = {"POST": (TokenScope.RUN,)}
    most_bytes = MOST_BYTES + MAX_BODY

    def allowed(self, person: Any) -> bool:
        return can_manage(person)

    @extend_schema(request=data.ImportQrelsInput, responses={201: data.QrelsData})
    def post(self, request: SignedInRequest, pool: str) -> Response:
        found = find_pool(pool)
        asked = checked(data.ImportQrelsInput, request)
        file = asked["file"]
        qrels = import_qrels(found, asked["name"], file.read(), str(file.name), asked["format"], request.user)
        return Response(data.QrelsData(qrels).data, status.HTTP_201_CREATED)


class QrelsOne(One):
    """GET qrels by their name."""

    queryset = Qrels.objects.select_related("pool", "created_by")
    serializer_class = data.QrelsData
    names = {"pool": "pool__name", "qrels": "name"}


class TrecFile(Endpoint):
    """GET a list of this moment: topics.tsv, pool.txt or qrels.txt."""

    content_negotiation_class = AnyType

    @extend_schema(parameters=[FILE], responses={(200, "text/plain"): OpenApiTypes.STR})
    def get(self, request: Request, pool: str, file: str) -> StreamingHttpResponse:
        found = find_pool(pool)
        files = trec_lists(found)
        if file not in files:
            raise Http404
        return stream_response(pieces(files[file]), f"{found.name}-{file}", TREC_TYPE)
