"""API endpoints of graphs, systems, runs, pools and jobs, for managers and researchers."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.base import MAX_BODY, AnyType, Endpoint, SignedInRequest, checked, refuse_unknown
from core.api.listing import Listing, One
from core.enums import TokenScope
from core.jobs.lifecycle import cancel_job, retry_job
from core.jobs.transitions import JobError
from core.models import Job
from core.people.roles import can_bring_runs, can_manage
from core.views.files import stream_response
from pooling.api import serializers as data
from pooling.models import Graph, Pool, Run, System
from pooling.pools.build import get_pool
from pooling.runs.export import PARQUET_TYPE, parquet_pieces, whole_run
from pooling.runs.imports import MOST_BYTES, MOST_TOPICS_BYTES, Imported, import_sent_run
from pooling.runs.ownership import OwnerError, delete_run, may_change, publish, visible_runs
from pooling.runs.trec_write import packed
from pooling.training.train import family_of

GZIP_TYPE = "application/gzip"
RUN_FILE = {(200, kind): OpenApiTypes.BINARY for kind in (GZIP_TYPE, PARQUET_TYPE)}
AS = OpenApiParameter("as", str, enum=["trec", "parquet"], description="Form of the file; trec if you do not say.")


class Graphs(Listing):
    """GET the graphs, newest first."""

    queryset = Graph.objects.all()
    serializer_class = data.GraphData
    filters = {"source": "source", "archived": "archived"}


class GraphOne(One):
    """GET a graph."""

    queryset = Graph.objects.all()
    serializer_class = data.GraphData
    names = {"graph": "name"}


class Systems(Listing):
    """GET the systems of all graphs, newest first."""

    queryset = System.objects.select_related("graph")
    serializer_class = data.SystemData
    filters = {"graph": "graph__name", "kind": "kind", "state": "state", "archived": "archived"}


class SystemOne(One):
    """GET a system of a graph."""

    queryset = System.objects.select_related("graph")
    serializer_class = data.SystemData
    names = {"graph": "graph__name", "system": "name"}


def seen_runs(view: Endpoint) -> QuerySet[Run]:
    """Return the runs that the person of the request may see; for the schema, which has no request, all."""
    in_schema = getattr(view, "swagger_fake_view", False)
    return Run.every.select_related("system__graph") if in_schema else visible_runs(view.request.user)


class Runs(Listing):
    """GET the runs of all systems, newest first."""

    serializer_class = data.RunData
    filters = {"graph": "system__graph__name", "system": "system__name"}

    def get_queryset(self) -> QuerySet[Run]:
        return seen_runs(self)


class GraphRuns(Listing):
    """GET the runs of a graph. POST a run that was made elsewhere: it becomes a system without a model."""

    serializer_class = data.RunData
    filters = {"system": "system__name"}
    parser_classes = [MultiPartParser]
    scopes = {"POST": (TokenScope.RUN,)}
    most_bytes = MOST_BYTES + MOST_TOPICS_BYTES + MAX_BODY

    def get_queryset(self) -> QuerySet[Run]:
        return seen_runs(self)

    def graph(self) -> Graph:
        return get_object_or_404(Graph, name=self.kwargs["graph"])

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return super().filter_queryset(queryset.filter(system__graph=self.graph()))

    @extend_schema(request=data.RunInput, responses={201: data.ImportedData})
    def post(self, request: SignedInRequest, graph: str) -> Response:
        if not can_bring_runs(request.user):
            self.permission_denied(request)
        found = self.graph()
        asked = checked(data.RunInput, request)
        pool = get_pool(asked["pool"]) if asked["pool"] else None
        options = {name: asked[name] for name in ("family", "form", "scores_decide", "topics")}
        imported = import_sent_run(found, asked["file"], name=asked["system"], pool=pool, user=request.user, **options)
        return Response(told(imported), status.HTTP_201_CREATED)


def told(imported: Imported) -> dict[str, Any]:
    """Return a run that was brought, and the notes on it."""
    run = Run.every.select_related("system__graph").get(system=imported.system)
    return {"run": data.RunData(run).data, "notes": imported.notes}


class RunOne(One):
    """GET the run of a system. DELETE an own run; 409 where a pool or frozen qrels rest on it."""

    queryset = Run.objects.select_related("system__graph")
    serializer_class = data.RunData
    names = {"graph": "system__graph__name", "system": "system__name"}
    scopes = {"DELETE": (TokenScope.RUN,)}
    status_of = {OwnerError: status.HTTP_409_CONFLICT}

    def get_queryset(self) -> QuerySet[Run]:
        return seen_runs(self)

    @extend_schema(responses={204: None})
    def delete(self, request: SignedInRequest, graph: str, system: str) -> Response:
        delete_run(own_run(self, graph, system), request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


def run_of(view: Endpoint, graph: str, system: str) -> Run:
    """Return a run that the person may see; 404 for others."""
    return get_object_or_404(seen_runs(view), system__graph__name=graph, system__name=system)


def own_run(view: Endpoint, graph: str, system: str) -> System:
    """Return the system of a run that the person may change; 403 for runs of others."""
    found = run_of(view, graph, system).system
    if not may_change(view.request.user, found):
        raise PermissionDenied("This run belongs to somebody else.")
    return found


class RunPublish(Endpoint):
    """POST: everybody who evaluates sees an own run from now on. It has no body."""

    scopes = {"POST": (TokenScope.RUN,)}

    @extend_schema(request=None, responses=data.RunData)
    def post(self, request: SignedInRequest, graph: str, system: str) -> Response:
        publish(own_run(self, graph, system), request.user)
        return Response(data.RunData(run_of(self, graph, system)).data)


class RunReplace(Endpoint):
    """POST a file that takes the place of an own run, which keeps its name; if it is refused, the old one stays."""

    scopes = {"POST": (TokenScope.RUN,)}
    status_of = {OwnerError: status.HTTP_409_CONFLICT}
    parser_classes = [MultiPartParser]
    most_bytes = MOST_BYTES + MOST_TOPICS_BYTES + MAX_BODY

    @extend_schema(request=data.ReplaceInput, responses=data.ImportedData)
    def post(self, request: SignedInRequest, graph: str, system: str) -> Response:
        found = own_run(self, graph, system)
        asked = checked(data.ReplaceInput, request)
        options = {name: asked[name] for name in ("form", "scores_decide", "topics")} | {"family": family_of(found)}
        imported = import_sent_run(
            found.graph, asked["file"], name=found.name, user=request.user, replaces=found, **options
        )
        return Response(told(imported))


class RunDownload(Endpoint):
    """GET the whole run: TREC lines as gzip; with `?as=parquet` as Parquet."""

    content_negotiation_class = AnyType

    @extend_schema(parameters=[AS], responses=RUN_FILE)
    def get(self, request: Request, graph: str, system: str) -> HttpResponseBase:
        refuse_unknown(request, ("as",), "This endpoint")
        run, form = run_of(self, graph, system), request.query_params.get("as", "trec")
        name = f"{graph}-{system}"
        if form == "parquet":
            return stream_response(parquet_pieces(run), f"{name}.parquet", PARQUET_TYPE)
        if form != "trec":
            raise ValidationError({"as": "Give trec or parquet."})
        return stream_response(packed(whole_run(run)), f"{name}.txt.gz", GZIP_TYPE)


class Pools(Listing):
    """GET the pools, newest first."""

    queryset = Pool.objects.select_related("graph")
    serializer_class = data.PoolData
    filters = {"graph": "graph__name", "state": "state", "origin": "origin", "rule": "rule", "archived": "archived"}


class PoolOne(One):
    """GET a pool."""

    queryset = Pool.objects.select_related("graph")
    serializer_class = data.PoolData
    names = {"pool": "name"}


class Jobs(Listing):
    """GET the jobs, newest first."""

    queryset = Job.objects.select_related("graph", "system", "pool")
    serializer_class = data.JobData
    filters = {"kind": "kind", "state": "state", "pool": "pool__name", "graph": "graph__name"}


class JobOne(One):
    """GET a job."""

    queryset = Job.objects.select_related("graph", "system", "pool")
    serializer_class = data.JobData
    names = {"job": "pk"}


class _JobAct(Endpoint):
    """POST, without a body. 409 where the job is in no state for it."""

    status_of = {JobError: status.HTTP_409_CONFLICT}

    act: Callable[[Job, User], None]

    def allowed(self, person: Any) -> bool:
        return can_manage(person)

    @extend_schema(request=None, responses=data.JobData)
    def post(self, request: SignedInRequest, job: int) -> Response:
        jobs = Job.objects.select_related("graph", "system__graph", "pool")
        found = get_object_or_404(jobs, pk=job)
        self.act(found, request.user)
        found.refresh_from_db()
        return Response(data.JobData(found).data)


class JobCancel(_JobAct):
    """POST: a queued job is cancelled at once, a running one at its next step."""

    act = staticmethod(cancel_job)


class JobRetry(_JobAct):
    """POST: a failed or cancelled job is queued again."""

    act = staticmethod(retry_job)
