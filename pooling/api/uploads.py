"""API endpoints that take a large run in parts."""

from typing import Any, ClassVar

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.parsers import BaseParser
from rest_framework.response import Response

from core.api.base import MAX_BODY, Endpoint, SignedInRequest, checked
from core.enums import TokenScope
from core.people.roles import can_bring_runs
from pooling.api import serializers as data
from pooling.models import Graph
from pooling.runs.imports import MOST_TOPICS_BYTES
from pooling.runs.parts import (
    PART_BYTES,
    Outcome,
    Upload,
    UploadError,
    create_upload,
    drop,
    finish,
    get_upload,
    put_part,
    put_topics,
)

CHECKSUM = OpenApiParameter("X-Checksum-SHA256", str, "header", required=True, description="SHA-256 of the body, hex.")


class Bytes(BaseParser):
    """Read a body as bytes."""

    media_type = "application/octet-stream"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        return bytes(stream.read())


def sent_bytes(request: SignedInRequest) -> bytes:
    """Return the body that Bytes read; empty for another kind of body."""
    return request.data if isinstance(request.data, bytes) else b""


class OfUploads(Endpoint):
    """Endpoints of people who bring runs."""

    scopes: ClassVar[dict[str, tuple[TokenScope, ...]]] = dict.fromkeys(
        ("GET", "POST", "PUT", "DELETE"), (TokenScope.RUN,)
    )

    def allowed(self, person: Any) -> bool:
        return can_bring_runs(person)

    def upload(self, request: SignedInRequest, number: Any) -> Upload:
        """Return an own upload; 404 for others."""
        try:
            return get_upload(str(number), request.user)
        except UploadError as error:
            raise Http404 from error


def facts(upload: Upload) -> dict[str, Any]:
    """Return an upload as the API tells it."""
    parts = [part._asdict() for part in upload.parts()]
    end = upload.outcome() or Outcome()
    said = {"refused": end.refused, "notes": list(end.notes)}
    return {"id": upload.id, "part_bytes": PART_BYTES, "expires_at": upload.expires_at, "parts": parts, **said}


class GraphUploads(OfUploads):
    """POST what a run is called: an upload begins, whose parts are then put one by one."""

    @extend_schema(request=data.UploadInput, responses={201: data.UploadData})
    def post(self, request: SignedInRequest, graph: str) -> Response:
        found = get_object_or_404(Graph, name=graph)
        asked = checked(data.UploadInput, request)
        options = {name: asked[name] for name in ("family", "pool", "form", "scores_decide", "file_name")}
        upload = create_upload(found, request.user, name=asked["system"], **options)
        return Response(facts(upload), status.HTTP_201_CREATED)


class UploadOne(OfUploads):
    """GET an own upload: the parts that are there, and how its import ended. DELETE it."""

    @extend_schema(responses=data.UploadData)
    def get(self, request: SignedInRequest, upload: Any) -> Response:
        return Response(facts(self.upload(request, upload)))

    @extend_schema(responses={204: None})
    def delete(self, request: SignedInRequest, upload: Any) -> Response:
        drop(self.upload(request, upload))
        return Response(status=status.HTTP_204_NO_CONTENT)


class UploadPart(OfUploads):
    """PUT the bytes of a part, with their checksum; again, where something went wrong."""

    parser_classes = [Bytes]
    most_bytes = PART_BYTES + MAX_BODY

    @extend_schema(parameters=[CHECKSUM], request=OpenApiTypes.BINARY, responses=data.RunPartData)
    def put(self, request: SignedInRequest, upload: Any, number: int) -> Response:
        found = self.upload(request, upload)
        return Response(
            put_part(found, number, sent_bytes(request), request.headers.get("X-Checksum-SHA256", ""))._asdict()
        )


class UploadTopics(OfUploads):
    """PUT the topics file that the run was made from, with its checksum: it says what the run was asked."""

    parser_classes = [Bytes]
    most_bytes = MOST_TOPICS_BYTES + MAX_BODY

    @extend_schema(parameters=[CHECKSUM], request=OpenApiTypes.BINARY, responses={204: None})
    def put(self, request: SignedInRequest, upload: Any) -> Response:
        put_topics(self.upload(request, upload), sent_bytes(request), request.headers.get("X-Checksum-SHA256", ""))
        return Response(status=status.HTTP_204_NO_CONTENT)


class UploadFinish(OfUploads):
    """POST how many parts there are: a job imports the run."""

    @extend_schema(request=data.FinishInput, responses={202: data.JobData})
    def post(self, request: SignedInRequest, upload: Any) -> Response:
        job = finish(self.upload(request, upload), checked(data.FinishInput, request)["parts"], request.user)
        return Response(data.JobData(job).data, status.HTTP_202_ACCEPTED)
