"""API endpoints that take the files of a graph, show what was read, and import it when asked to."""

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from core.api.base import MAX_BODY, Endpoint, SignedInRequest, checked
from core.models import Job
from core.people.roles import can_manage
from pooling.api.serializers import GraphData, JobData
from pooling.enums import Split
from pooling.graphs.entity_texts import pattern_problem
from pooling.graphs.imports import UNSEEN
from pooling.graphs.source_data import GraphError
from pooling.layouts.layout import ADVISED, LayoutOptions, with_names
from pooling.layouts.preview import preview_of
from pooling.layouts.tables import SEPARATORS
from pooling.layouts.triple_tables import ORDERS
from pooling.layouts.uploads import (
    MOST_BYTES,
    MOST_FILES,
    Upload,
    drop_upload,
    find_upload,
    import_upload,
    keep_upload,
    read_upload,
)
from pooling.models import Graph

Fields = serializers.Serializer[Any]
_USUAL = LayoutOptions()


class LayoutInput(Fields):
    """How files are read, where it cannot be told from them."""

    folder = serializers.CharField(default="", allow_blank=True, max_length=200, help_text="Of the splits.")
    separator = serializers.ChoiceField(("", *SEPARATORS), default="", allow_blank=True)
    columns = serializers.ChoiceField(("", *ORDERS), default="", allow_blank=True, help_text="Of tables of triples.")
    header = serializers.ChoiceField(("", "yes", "no"), default="", allow_blank=True)
    ignore_time = serializers.BooleanField(default=False, help_text="Leave out the times of quadruples.")
    drop_qualifiers = serializers.BooleanField(default=False, help_text="Leave out what follows the triple.")
    valid_share = serializers.FloatField(default=_USUAL.shares[0], min_value=0, max_value=1)
    test_share = serializers.FloatField(default=_USUAL.shares[1], min_value=0, max_value=1)
    seed = serializers.IntegerField(default=_USUAL.seed, min_value=0, max_value=2**31, help_text="Of drawn splits.")
    link_pattern = serializers.CharField(
        default="", allow_blank=True, max_length=500, help_text="Makes links of entities: {id} is where the id goes."
    )

    def validate_link_pattern(self, pattern: str) -> str:
        if pattern and (problem := pattern_problem(pattern)):
            raise serializers.ValidationError(f"It {problem}.")
        return pattern


class GraphUploadInput(LayoutInput):
    """The files of a folder, or one archive, and how they are read."""

    files = serializers.ListField(child=serializers.FileField(allow_empty_file=True), max_length=MOST_FILES)


class GraphImportInput(LayoutInput):
    name = serializers.SlugField(max_length=80, help_text="Of the graph; new on this site.")
    unseen = serializers.ChoiceField(UNSEEN, default="keep", help_text="Entities of valid and test that train lacks.")


class SplitPreviewData(Fields):
    split = serializers.ChoiceField(choices=Split.values)
    file = serializers.CharField()
    form = serializers.CharField(help_text="How the file was read.")
    triples = serializers.IntegerField()
    first = serializers.ListField(child=serializers.ListField(child=serializers.CharField()), help_text="Triples.")


class BesideData(Fields):
    name = serializers.CharField()
    file = serializers.CharField()
    lines = serializers.IntegerField()


class GraphPreviewData(Fields):
    """What was read. Nothing is imported yet."""

    upload = serializers.UUIDField()
    layout = serializers.CharField()
    drawn = serializers.ListField(child=serializers.CharField(), help_text="Splits that the files do not have.")
    splits = SplitPreviewData(many=True)
    entities = serializers.IntegerField()
    relations = serializers.IntegerField()
    beside = BesideData(many=True, help_text="Labels, types and so on.")
    link_pattern = serializers.CharField(allow_blank=True)
    ignored = serializers.ListField(child=serializers.CharField(), help_text="The first files that were not read.")
    num_ignored = serializers.IntegerField()
    warnings = serializers.ListField(child=serializers.CharField())


class GraphImportData(Fields):
    graph = GraphData(allow_null=True, help_text="Null while a job imports it.")
    job = JobData(allow_null=True)


class _Managers(Endpoint):
    def allowed(self, person: Any) -> bool:
        return can_manage(person)

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        if isinstance(exc, GraphError):
            response.data["error"] = _in_words(response.data["error"])
        return response

    def find(self, upload: UUID) -> Upload:
        found = find_upload(upload, self.request.user)
        if found is None:
            raise Http404
        return found


class GraphUploads(_Managers):
    """POST the files of a graph and get a preview; nothing is imported. They are kept for a day, for you alone."""

    parser_classes = [MultiPartParser]
    most_bytes = MOST_BYTES + MAX_BODY

    @extend_schema(request=GraphUploadInput, responses={201: GraphPreviewData})
    def post(self, request: SignedInRequest) -> Response:
        asked = checked(GraphUploadInput, request)
        kept = keep_upload(asked["files"], request.user)
        try:
            return Response(_preview_data(kept, _options(asked)), status.HTTP_201_CREATED)
        except Exception:
            drop_upload(kept)
            raise


class GraphUploadPreview(_Managers):
    """POST other options and get another preview."""

    @extend_schema(request=LayoutInput, responses=GraphPreviewData)
    def post(self, request: SignedInRequest, upload: UUID) -> Response:
        return Response(_preview_data(self.find(upload), _options(checked(LayoutInput, request))))


class GraphUploadImport(_Managers):
    """POST: import the files, read with these options. 201 with the graph, or 202 with the job that imports it."""

    @extend_schema(request=GraphImportInput, responses={201: GraphImportData, 202: GraphImportData})
    def post(self, request: SignedInRequest, upload: UUID) -> Response:
        kept = self.find(upload)
        asked = checked(GraphImportInput, request)
        done = import_upload(kept, asked["name"], _options(asked), asked["unseen"], request.user)
        if isinstance(done, Job):
            return Response({"graph": None, "job": JobData(done).data}, status.HTTP_202_ACCEPTED)
        made = Graph.objects.get(pk=done.pk)
        return Response({"graph": GraphData(made).data, "job": None}, status.HTTP_201_CREATED)


def _options(asked: dict[str, Any]) -> LayoutOptions:
    taken = ("folder", "separator", "columns", "header", "ignore_time", "drop_qualifiers", "seed", "link_pattern")
    return LayoutOptions(**{key: asked[key] for key in taken}, shares=(asked["valid_share"], asked["test_share"]))


def _preview_data(kept: Upload, options: LayoutOptions) -> dict[str, Any]:
    shown = preview_of(read_upload(kept, options))
    splits = [split._asdict() for split in shown.splits]
    warnings = [_in_words(warning) for warning in shown.warnings]
    beside = [of._asdict() for of in shown.beside]
    return {"upload": kept.token, **shown._asdict(), "splits": splits, "beside": beside, "warnings": warnings}


def _in_words(message: str) -> str:
    """Return a message with the names of parameters in the place of the command's options."""
    return with_names(message, {name: f"`{name}`" for name in ADVISED})
