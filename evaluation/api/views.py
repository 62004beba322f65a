"""API endpoints of measures, and of evaluations of a pool's runs under its label sets."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.base import Endpoint, SignedInRequest, checked, refuse_unknown
from core.enums import TokenScope
from evaluation.api import serializers as data
from evaluation.labels.pool_table import EvaluationError
from evaluation.measures.registry import MEASURES, USUAL_NAMES, parse_measure
from evaluation.overview.sections import OVERVIEW
from evaluation.pages.registry import ANALYSES, get_analysis
from evaluation.sections.figure_cache import FigureBusy, analysis_content, ask_part
from evaluation.sections.metrics import metrics
from evaluation.sections.section import Analysis
from evaluation.sections.settings import Settings, parse_settings
from pooling.api.serializers import JobData
from pooling.views.find import find_pool

ASKED = ("labels", "measures", "questions", "assumed", "seeds", "systems")
WORDS = {
    "labels": "Label set: current, seeds, full-test, depth:D, until:TIME, annotator:N, qrels:NAME, imported:NAME.",
    "measures": "Names with commas; GET measures lists them.",
    "questions": "grown: every question with an answer; original: of these those of the seeds.",
    "assumed": "Whether filtered triples count as judged negatives: judged or unjudged.",
    "seeds": "each: every seed is a system; families: one system for each family of seeds, with mean and deviation.",
    "systems": "Names of the systems to compare, with commas; without it all that were asked half of the questions.",
    "training": "Whether intervals also draw a seed of each family: fixed or drawn; it needs families.",
}
PARAMETERS = [OpenApiParameter(name, str, description=WORDS.get(name, "")) for name in vars(Settings())]
ANALYSIS = OpenApiParameter("analysis", str, "path", enum=[OVERVIEW.key, *(one.key for one in ANALYSES)])


def whole_list(rows: list[dict[str, Any]]) -> Response:
    """Return a list of one page, in the form of all lists."""
    return Response({"next": None, "previous": None, "results": rows})


class Measures(Endpoint):
    """GET the measures that pages offer; any other cut-off can be asked for by name."""

    @extend_schema(operation_id="measures_list", responses=data.MeasureList)
    def get(self, request: Request) -> Response:
        refuse_unknown(request, (), "This list")
        return whole_list([measure.facts() for measure in MEASURES])


class MeasureOne(Endpoint):
    """GET one measure by its name, with any cut-off: micro_hits@7."""

    @extend_schema(responses=data.MeasureData)
    def get(self, request: Request, measure: str) -> Response:
        try:
            return Response(parse_measure(measure).facts())
        except ValueError as error:
            raise Http404 from error


class Evaluations(Endpoint):
    """GET measures of every system of a pool under one label set, as they are now."""

    @extend_schema(
        operation_id="pools_evaluate",
        parameters=[parameter for parameter in PARAMETERS if parameter.name in ASKED],
        responses=data.EvaluationData,
    )
    def get(self, request: Request, pool: str) -> Response:
        found = find_pool(pool)
        refuse_unknown(request, ASKED, "An evaluation")
        asked = parse_settings(request.query_params, ASKED)
        measures = asked.measures if request.query_params.get("measures") else USUAL_NAMES
        content = metrics(
            found, asked.labels, measures, asked.assumed_is_judged, asked.questions, asked.seeds, asked.systems
        )
        return Response(content | {"reasons": {name: why for name, why in content["reasons"].items() if why}})


class Analyses(Endpoint):
    """GET the analyses that can be asked of a pool, with the parameters that each takes."""

    @extend_schema(operation_id="analyses_list", responses=data.AnalysisList)
    def get(self, request: Request) -> Response:
        refuse_unknown(request, (), "This list")
        return whole_list([_row(analysis) for analysis in (OVERVIEW, *ANALYSES)])


def _row(analysis: Analysis) -> dict[str, Any]:
    parts = {"parts": [part.key for part in analysis.parts]}
    parts["by_job"] = [part.key for part in analysis.parts if part.heavy]
    return {name: getattr(analysis, name) for name in ("key", "title", "lead", "settings")} | parts


class AnalysisOne(Endpoint):
    """GET an analysis as its page shows it. POST has a job compute a part that takes long, under these parameters."""

    scopes = {"POST": (TokenScope.RUN,)}
    status_of = {FigureBusy: status.HTTP_503_SERVICE_UNAVAILABLE}

    def asked(self, request: Request, key: str) -> tuple[Analysis, Settings]:
        try:
            analysis = OVERVIEW if key == OVERVIEW.key else get_analysis(key)
        except EvaluationError as error:
            raise Http404 from error
        refuse_unknown(request, analysis.settings, "This analysis")
        return analysis, parse_settings(request.query_params, analysis.settings)

    @extend_schema(parameters=[ANALYSIS, *PARAMETERS], responses=data.AnalysisData)
    def get(self, request: Request, pool: str, analysis: str) -> Response:
        found, (chosen, settings) = find_pool(pool), self.asked(request, analysis)
        return Response(analysis_content(found, chosen, settings))

    @extend_schema(parameters=[ANALYSIS, *PARAMETERS], request=data.PartInput, responses={202: JobData})
    def post(self, request: SignedInRequest, pool: str, analysis: str) -> Response:
        found, (chosen, settings) = find_pool(pool), self.asked(request, analysis)
        heavy = {part.key: part for part in chosen.parts if part.heavy}
        wanted = checked(data.PartInput, request)["part"]
        if wanted not in heavy:
            known = ", ".join(heavy) or "none, GET computes all of it"
            raise ValidationError({"part": f"Parts of this analysis that a job computes: {known}."})
        job = ask_part(found, chosen, heavy[wanted], settings, request.user)
        return Response(JobData(job).data, status.HTTP_202_ACCEPTED)
