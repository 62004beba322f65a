"""API endpoints of test sets: ask for an archive, which a job writes, and download it whole or in ranges."""

from typing import Any

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.base import AnyType, SignedInRequest, checked
from core.api.listing import Listing, One
from core.enums import TokenScope
from core.views.ranged_downloads import ranged_file
from evaluation.api import serializers as data
from evaluation.labels.qrels import get_qrels
from evaluation.models import Export
from evaluation.test_sets.content import ExportOptions
from evaluation.test_sets.zip_file import request_export, zip_name, zip_path
from pooling.api.serializers import JobData
from pooling.views.find import find_pool

EXPORTS = Export.objects.select_related("qrels__pool")
FILE = {
    (200, "application/zip"): OpenApiTypes.BINARY,
    (206, "application/zip"): OpenApiTypes.BINARY,
    304: OpenApiResponse(description="The file is the one that If-None-Match names."),
    416: OpenApiResponse(description="The file has no such bytes: Content-Range says how many it has."),
}
HEADERS = [
    OpenApiParameter("Range", str, "header", description="bytes=FIRST- takes up a download that broke off."),
    OpenApiParameter("If-Range", str, "header", description="The ETag of what is there already."),
]


class PoolExports(Listing):
    """GET the archives of a pool. POST asks for an archive: 202 with the job that writes it, 200 where it is there."""

    queryset = EXPORTS
    serializer_class = data.ExportData
    filters = {"qrels": "qrels__name"}
    scopes = {"POST": (TokenScope.RUN,)}

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return super().filter_queryset(queryset.filter(qrels__pool=find_pool(self.kwargs["pool"])))

    @extend_schema(request=data.ExportInput, responses={200: data.RequestedData, 202: data.RequestedData})
    def post(self, request: SignedInRequest, pool: str) -> Response:
        found = find_pool(pool)
        asked = checked(data.ExportInput, request)
        qrels = get_qrels(found, asked.pop("qrels"))
        export, job = request_export(qrels, ExportOptions(**asked), request.user)
        content = {"export": self.get_serializer(export).data, "job": JobData(job).data if job else None}
        return Response(content, status.HTTP_202_ACCEPTED if job else status.HTTP_200_OK)


class ExportOne(One):
    """GET an archive: whether it is written, its size and checksum."""

    queryset = EXPORTS
    serializer_class = data.ExportData
    names = {"export": "pk"}


class ExportDownload(One):
    """GET the archive, or with Range a piece of it. 409 while it is not written."""

    queryset = EXPORTS
    serializer_class = data.ExportData
    names = {"export": "pk"}
    content_negotiation_class = AnyType

    @extend_schema(parameters=HEADERS, responses=FILE)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:  # type: ignore[override]
        export = self.get_object()
        path = zip_path(export)
        if path is None:
            words = "This archive is not written: wait for its job, or ask for it again."
            return Response({"error": words}, status.HTTP_409_CONFLICT)
        return ranged_file(request._request, path, export.sha256, zip_name(export))
