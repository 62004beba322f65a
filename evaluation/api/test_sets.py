"""API endpoints of qrels, frozen here or imported, lists in TREC form, and test sets, which a job writes."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.base import MAX_BODY, AnyType, Endpoint, SignedInRequest, checked
from core.api.listing import Listing, One
from core.enums import TokenScope
from core.files.storage import presigned
from core.people.roles import can_manage
from core.views.files import ranged_file, stream_response
from evaluation.api import serializers as data
from evaluation.forms.test_sets import MOST_BYTES
from evaluation.labels.import_qrels import import_qrels
from evaluation.labels.qrels import freeze_qrels, get_qrels
from evaluation.labels.terms import edit_terms
from evaluation.models import Export, Qrels, Terms
from evaluation.test_sets.export import is_there, request_export, zip_name, zip_path
from evaluation.test_sets.files import ExportOptions
from evaluation.test_sets.restore import restore_sent
from evaluation.test_sets.trec import TREC_TYPE, pool_topics, trec_lists
from pooling.api.serializers import JobData
from pooling.runs.files import RunError
from pooling.runs.trec_write import pieces
from pooling.views.find import find_pool

QRELS = Qrels.objects.select_related("pool", "created_by").prefetch_related("terms")
EXPORTS = Export.objects.select_related("qrels__pool")
LACKING = OpenApiParameter("lacking", str, description="Of topics.tsv only what the run of this system was not asked.")
FILE = OpenApiParameter("file", str, "path", enum=["topics.tsv", "pool.txt", "qrels.txt", "qrels_infap.txt"])
ZIP = {
    (200, "application/zip"): OpenApiTypes.BINARY,
    (206, "application/zip"): OpenApiTypes.BINARY,
    302: OpenApiResponse(description="Location is where the file is, for an hour, if the site has a store."),
    304: OpenApiResponse(description="The file is the one that If-None-Match names."),
    416: OpenApiResponse(description="The file has no such bytes: Content-Range says how many it has."),
}
HEADERS = [
    OpenApiParameter("Range", str, "header", description="bytes=FIRST- takes up a download that broke off."),
    OpenApiParameter("If-Range", str, "header", description="The ETag of what is there already."),
]


class PoolQrels(Listing):
    """GET the qrels of a pool. POST freezes the judgements as they are now, for managers."""

    queryset = QRELS
    serializer_class = data.QrelsData
    filters = {"origin": "origin"}

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return super().filter_queryset(queryset.filter(pool=find_pool(self.kwargs["pool"])))

    @extend_schema(request=data.FreezeInput, responses={201: data.QrelsData})
    def post(self, request: SignedInRequest, pool: str) -> Response:
        if not can_manage(request.user):
            self.permission_denied(request)
        found = find_pool(pool)
        qrels = freeze_qrels(found, user=request.user, **checked(data.FreezeInput, request))
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
        named = {name: asked[name] for name in ("format", "threshold")}
        qrels = import_qrels(found, asked["name"], file.read(), str(file.name), user=request.user, **named)
        return Response(data.QrelsData(qrels).data, status.HTTP_201_CREATED)


class TestSets(Endpoint):
    """POST the zip file of an exported test set: graph, pool, labels, runs and frozen qrels come back; for managers."""

    __test__ = False  # not a test, whatever pytest makes of its name
    parser_classes = [MultiPartParser]
    most_bytes = MOST_BYTES + MAX_BODY

    def allowed(self, person: Any) -> bool:
        return can_manage(person)

    @extend_schema(request=data.RestoreInput, responses={201: data.QrelsData})
    def post(self, request: SignedInRequest) -> Response:
        asked = checked(data.RestoreInput, request)
        qrels = restore_sent(asked["archive"], name=asked["pool"], graph_name=asked["graph"], user=request.user)
        return Response(data.QrelsData(qrels).data, status.HTTP_201_CREATED)


class QrelsOne(One):
    """GET qrels by their name."""

    queryset = QRELS
    serializer_class = data.QrelsData
    names = {"pool": "pool__name", "qrels": "name"}


class QrelsTerms(Listing):
    """GET the versions of the terms of a test set. POST writes a new one, for managers."""

    queryset = Terms.objects.select_related("created_by")
    serializer_class = data.TermsData

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return super().filter_queryset(queryset.filter(qrels=self._qrels()))

    def _qrels(self) -> Qrels:
        return get_object_or_404(QRELS, pool__name=self.kwargs["pool"], name=self.kwargs["qrels"])

    @extend_schema(request=data.TermsInput, responses={201: data.TermsData})
    def post(self, request: SignedInRequest, pool: str, qrels: str) -> Response:
        if not can_manage(request.user):
            self.permission_denied(request)
        terms = edit_terms(self._qrels(), user=request.user, **checked(data.TermsInput, request))
        return Response(data.TermsData(terms).data, status.HTTP_201_CREATED)


class TrecFile(Endpoint):
    """GET a list as it is now: topics.tsv, pool.txt, qrels.txt or qrels_infap.txt."""

    content_negotiation_class = AnyType

    @extend_schema(parameters=[FILE, LACKING], responses={(200, "text/plain"): OpenApiTypes.STR})
    def get(self, request: SignedInRequest, pool: str, file: str) -> StreamingHttpResponse:
        found = find_pool(pool)
        files = trec_lists(found)
        if file not in files:
            raise Http404
        if file == "topics.tsv" and (system := request.query_params.get("lacking", "")):
            try:
                files[file] = pool_topics(found, system, request.user)
            except RunError as error:
                raise Http404 from error
        return stream_response(pieces(files[file]), f"{found.name}-{file}", TREC_TYPE)


class PoolExports(Listing):
    """GET the zip files of a pool. POST asks for a zip file: 202 with the job that writes it, 200 where it is there."""

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
    """GET a zip file: whether it is written, its size and checksum."""

    queryset = EXPORTS
    serializer_class = data.ExportData
    names = {"export": "pk"}


class ExportDownload(ExportOne):
    """GET the zip file, or with Range a piece of it. 409 while it is not written."""

    content_negotiation_class = AnyType

    @extend_schema(parameters=HEADERS, responses=ZIP)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:  # type: ignore[override]
        export = self.get_object()
        if is_there(export) and (address := presigned(export.artifact)):
            return HttpResponseRedirect(address)
        if (path := zip_path(export)) is None:
            words = "This zip file is not written: wait for its job, or ask for it again."
            return Response({"error": words}, status.HTTP_409_CONFLICT)
        return ranged_file(request._request, path, export.sha256, zip_name(export))
