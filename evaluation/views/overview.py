"""The pages Home and Help, and of a pool Status, Evaluation (the overview) and Report."""

from dataclasses import asdict

from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from annotation.enums import CampaignState, ItemState
from annotation.labelling.own_labels import own_progress
from annotation.models import Flag, Membership
from core.enums import LIVE
from core.errors import UserError
from core.models import Job
from core.people.roles import can_evaluate, can_manage
from core.views.access import SignedInRequest, evaluator_required, text_refusal
from core.views.files import as_download, text_response
from evaluation.enums import QrelsOrigin
from evaluation.overview import full_report as reports
from evaluation.overview.counts import stage_counts
from evaluation.overview.first_steps import first_steps
from evaluation.overview.rankings import TAKEN, overview, page_version
from evaluation.overview.sections import RANKINGS, overview_chart
from evaluation.overview.status import State, next_status, stage_statuses
from evaluation.pages.registry import by_group
from evaluation.planning.findings import not_comparable
from evaluation.sections.help_pages import LISTED, listed_for
from evaluation.sections.help_pages import help_page as read_help
from evaluation.sections.section import Context
from evaluation.sections.settings import RANKING, Settings, parse_settings
from evaluation.views.analyses import settings_form, systems_form
from pooling.models import Graph, Pool
from pooling.pools.states import pool_states
from pooling.views.find import find_pool

NEWEST = 6


def home(request: SignedInRequest) -> HttpResponse:
    """Show the pools and jobs under way, or to people who only label, their own progress."""
    if not can_evaluate(request.user):
        mine = Membership.objects.filter(person=request.user, campaign__state=CampaignState.PREPARING)
        progress = own_progress(request.user)
        adjudicates = any(own.disputes is not None for own in progress)
        work = {"progress": progress, "opens_later": mine.exists(), "adjudicates": adjudicates}
        return render(request, "home.html", work)
    pools = []
    shown = Pool.objects.filter(archived=False)
    newest = list(shown.select_related("graph").order_by("-created_at", "-id")[:NEWEST])
    flags = Flag.objects.filter(campaign__pool__in=newest, replied_at=None).order_by()
    waiting = dict(flags.values_list("campaign__pool").annotate(n=Count("pk")))
    for pool in newest:
        counts = stage_counts(pool)
        stages = stage_statuses(counts)
        waits = {"disputes": counts.items.get(ItemState.DISPUTED, 0), "reports": waiting.get(pool.pk, 0)}
        pools.append({"pool": pool, "stages": stages, "next": next_status(stages), **waits})
    live = Job.objects.filter(state__in=LIVE, parent=None).select_related("system__graph", "pool", "graph")
    jobs = list(live.defer("log").order_by("id")[:NEWEST])
    numbers = {"num_pools": shown.count(), "num_graphs": Graph.objects.filter(archived=False).count()}
    context: dict[str, object] = {"pools": pools, **numbers, "jobs": jobs, "pool_states": pool_states(newest)}
    on_page = {status.state for entry in pools for status in entry["stages"]}
    context["signs"] = [state for state in State if state in on_page]
    if can_manage(request.user):
        steps = first_steps()
        context |= {"first_steps": steps, "next_step": next((step for step in steps if not step.is_done), None)}
    return render(request, "evaluation/overview/status_home.html", context)


@evaluator_required
def status(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    stages = stage_statuses(stage_counts(pool))
    jobs = [job for stage in stages for job in stage.jobs]
    context = {"pool": pool, "stages": stages, "next": next_status(stages), "live": bool(jobs), "jobs": jobs}
    context["pool_states"] = pool_states([pool])
    return render(request, "evaluation/overview/status.html", context)


@evaluator_required
def evaluation(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    measure = request.GET.get("measure", RANKING[0])
    context: dict[str, object] = {"pool": pool, "groups": by_group()}
    try:
        settings = parse_settings(request.GET, TAKEN)
        context |= overview(pool, measure if measure in RANKING else RANKING[0], settings)
        context |= systems_form(pool, TAKEN, settings) | {"query": settings.query(TAKEN)}
        context["not_comparable"] = not_comparable(pool)
        context["newest_qrels"] = pool.qrels.filter(origin=QrelsOrigin.FROZEN).first()
        # the page has values beside its lines; this chart is the one that people take away
        context |= {"chart": asdict(overview_chart(context)), "chart_key": RANKINGS} if context["lines"] else {}
    except UserError as error:
        context["problem"] = str(error)
    part, has_figures = request.GET.get("part") == "figures", "problem" not in context
    template = f"evaluation/overview/evaluation{'_figures' if part and has_figures else ''}.html"
    # the status tells an open page, which asks for its figures, that there are none any more
    return render(request, template, context, status=400 if part and not has_figures else 200)


@evaluator_required
def evaluation_version(request: HttpRequest, name: str) -> JsonResponse:
    """Send the version of the figures, which open pages ask for every second: a few small queries, no computation."""
    return JsonResponse({"version": page_version(find_pool(name))})


@evaluator_required
def report(request: HttpRequest, name: str) -> HttpResponse:
    pool, problem = find_pool(name), ""
    try:
        settings = parse_settings(request.GET, reports.REPORT_SETTINGS)
        reports.look_up_labels(Context(pool, settings))
    except UserError as error:
        settings, problem = Settings(), str(error)
    context = {"pool": pool, "problem": problem, "contents": reports.preview_chapters(pool, settings)}
    context |= {
        "analysis": {"settings": reports.REPORT_SETTINGS},
        **settings_form(request, pool, reports.REPORT_SETTINGS, settings),
    }
    return render(request, "evaluation/overview/report.html", context, status=400 if problem else 200)


@evaluator_required
@text_refusal
def report_download(request: HttpRequest, name: str) -> HttpResponse:
    """Send one self-contained HTML file, or with ?format=json its content as JSON."""
    pool = find_pool(name)
    made = reports.full_report(pool, parse_settings(request.GET, reports.REPORT_SETTINGS))
    if request.GET.get("format") == "json":
        content = JsonResponse(reports.report_json(made), json_dumps_params={"allow_nan": False})
        return as_download(content, f"{pool.name}-report.json")
    return text_response(reports.report_html(made), f"{pool.name}-report.html")


def help_index(request: HttpRequest) -> HttpResponse:
    """List the help pages that this person may read."""
    return render(request, "help_index.html", {"groups": listed_for(evaluator=can_evaluate(request.user))})


def help_page(request: HttpRequest, page: str) -> HttpResponse:
    listed = LISTED.get(page)
    evaluator = can_evaluate(request.user)
    if not (listed and listed.for_everybody) and not evaluator:
        raise PermissionDenied
    found = read_help(page, evaluator=evaluator)
    if found is None:
        raise Http404(f"There is no help page {page!r}.")
    return render(request, "help.html", {"page": found})
