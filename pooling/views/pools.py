"""The pages Pools and New pool, and of one pool its triples, the relations of its seeds, and the overlap of systems."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from core.jobs.lifecycle import live_jobs, start_job
from core.models import Job
from core.views.access import SignedInRequest, evaluator_required, manager_required
from core.views.acts import attempt, posted, tell_queued
from core.views.files import csv_response, kept_file
from core.views.pagination import archivable_page, page_of
from pooling.enums import TO_PEOPLE, PoolingJob, SystemState
from pooling.forms.pools import EffortForm, PoolForm
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, PooledTriple
from pooling.pools.build import Finding, create_pool, unpack_provenance
from pooling.pools.diagnosis import diagnosis_of, diagnosis_says
from pooling.pools.effort import effort, measured_pace
from pooling.pools.estimate import PoolSize, estimate_pool
from pooling.pools.kernels.filters import FILTER_CHOICES, FILTERS, reason_label
from pooling.pools.kernels.shares import SMOOTHING
from pooling.pools.report import contents_version, overlap_report
from pooling.pools.seeds import SeedReport, seed_report
from pooling.pools.states import pool_states
from pooling.training.curves import chart
from pooling.views.find import find_pool

SHOWN = 20  # relations in the chart
KEPT_SECONDS = 600


@evaluator_required
def pools(request: HttpRequest) -> HttpResponse:
    to_people = Count("triples", filter=Q(triples__reason=TO_PEOPLE))
    rows = Pool.objects.select_related("graph").annotate(num_triples=Count("triples"), num_to_people=to_people)
    listed = archivable_page(request, rows.order_by("-created_at", "-id"), "pools")
    working = {job.pool_id: job for job in reversed(work_on(*listed["page"]))}
    found = {"working": working, "pool_states": pool_states(listed["page"]), "has_graph": Graph.objects.exists}
    return render(request, "pooling/pools/list.html", listed | found)


@manager_required
def new(request: SignedInRequest) -> HttpResponse:
    """Show the form that builds a pool; the graph is chosen first, because the systems follow from it.

    POST builds it. With ?part=estimate, or by the button without JavaScript, it only says how large it would be.
    """
    trained = Q(systems__state=SystemState.TRAINED, systems__private=False)
    training = Q(systems__state__in=(SystemState.WAITING, SystemState.TRAINING), systems__private=False)
    usable = Graph.objects.filter(archived=False)
    counted = usable.annotate(trained=Count("systems", filter=trained), training=Count("systems", filter=training))
    graphs = list(counted.order_by("name"))
    chosen = request.POST.get("graph") or request.GET.get("graph")
    ready = sorted(graphs, key=lambda graph: not graph.trained)  # with trained systems first
    graph = next((g for g in ready if g.name == chosen), None) if chosen else next(iter(ready), None)
    context: dict[str, Any] = {"graphs": graphs, "graph": graph}
    if graph is not None:
        form = PoolForm(graph, posted(request), request.FILES or None)
        costs = EffortForm(measured_pace(), request.POST if "seconds" in request.POST else None)
        context |= {"form": form, "costs": costs}
        if request.GET.get("part") == "estimate":
            return render(request, "pooling/pools/estimate.html", context | _estimate(graph, form, costs))
        if "estimate" in request.POST:
            context |= _estimate(graph, form, costs) | {"estimated": True}
        elif pool := attempt(form, partial(_build, graph, request.user)):
            tell_queued(request, f"Building of {pool.name} was queued.")
            return redirect("pool", pool.name)
    return render(request, "pooling/pools/new.html", context)


def _build(graph: Graph, user: User, asked: dict[str, Any]) -> Pool:
    """Make the pool and start the job that builds it."""
    with kept_file(asked.pop("seeds_file")) as path:
        pool = create_pool(graph, seeds_file=path, **asked)
    start_job(PoolingJob.BUILD_POOL, pool=pool, user=user)
    return pool


def _estimate(graph: Graph, form: PoolForm, costs: EffortForm) -> dict[str, Any]:
    """Return the size and effort by each rule for what the form asks, and what each choice changes."""
    form.fields["name"].required = False  # it may still be missing

    def estimate(asked: dict[str, Any]) -> PoolSize:
        with kept_file(asked.pop("seeds_file")) as path:
            wanted = {key: value for key, value in asked.items() if key not in ("name", "score_again")}
            return estimate_pool(graph, seeds_file=path, **wanted)

    size = attempt(form, estimate)
    form.errors.pop("name", None)
    if size is None or (costs.is_bound and not costs.is_valid()):
        return {"size": None}
    pace, rate = costs.asked()
    rows = [(row.rule, row.size, effort(row.size.to_people, pace, rate)) for row in size.rules]
    changes = [(change, effort(change.size.to_people, pace, rate)) for change in size.changes]
    return {"size": size, "rows": rows, "changes": changes, "chosen": form.cleaned_data["rule"], "rate": rate}


def work_on(*pools: Pool) -> list[Job]:
    """Return the jobs under way that build, score or extend one of the pools."""
    return live_jobs(Q(pool__in=[pool.pk for pool in pools], kind__in=PoolingJob.values))


@dataclass(frozen=True)
class TripleRow:
    """A pooled triple by names, with the ids that differ from them and its findings, the best rank first."""

    head: str
    relation: str
    tail: str
    depth: int
    reason: str
    found_by: list[Finding]
    ids: list[str]

    @property
    def others(self) -> list[Finding]:
        """Return the findings after the first."""
        return self.found_by[1:]


def readable(triples: list[PooledTriple], pool: Pool, graph: GraphArrays) -> list[TripleRow]:
    """Return pooled triples by their names, each with the systems that found it."""
    rows = []
    for triple in triples:
        names = graph.label(triple.head), graph.relation_name(triple.relation), graph.label(triple.tail)
        keys = graph.entities[triple.head], graph.relations[triple.relation], graph.entities[triple.tail]
        ids = [key for key, name in zip(keys, names, strict=True) if key != name]
        found = sorted(unpack_provenance(triple.provenance, pool.contributors), key=lambda finding: finding.rank)
        rows.append(TripleRow(*names, triple.depth, reason_label(triple.reason), found, ids))
    return rows


@evaluator_required
def triples(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    rows = pool.triples.order_by("id")
    reason = request.GET.get("reason", "")
    if reason == "people":
        rows = rows.filter(reason=TO_PEOPLE)
    elif reason == "filtered":
        rows = rows.exclude(reason=TO_PEOPLE)
    elif reason in FILTERS:
        rows = rows.filter(reason=reason)
    page, diagnosis = page_of(request, rows), diagnosis_of(pool)
    context = {
        "pool": pool,
        "pool_states": pool_states([pool]),
        "work": work_on(pool),
        "page": page,
        "rows": readable(list(page), pool, open_graph(pool.graph)) if page else [],
        "diagnosis": diagnosis,
        "says": diagnosis_says(diagnosis) if diagnosis else [],
        "reason": reason,
        "reasons": [("people", "to people"), ("filtered", "filtered"), *FILTER_CHOICES],
    }
    return render(request, "pooling/pools/triples.html", context)


# -- seeds: their relations compared with those of test --


@evaluator_required
def seeds(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    report = seed_report(pool)
    context = {
        "pool": pool,
        "work": work_on(pool),
        "report": report,
        "smoothing": SMOOTHING,
        "charts": [_share_chart(report)] if report.rows else [],
        "shown": min(SHOWN, len(report.rows)),
    }
    return render(request, "pooling/pools/seeds.html", context)


@evaluator_required
def seeds_csv(request: HttpRequest, name: str) -> HttpResponse:
    """Send the shares of every relation among seeds, test and graph."""
    pool = find_pool(name)
    head = ("relation", "seeds", "seeds_share", "test", "test_share", "difference", "graph", "graph_share")
    rows = [
        (r.relation, r.seeds, r.seeds_share, r.test, r.test_share, r.difference, r.whole, r.whole_share)
        for r in seed_report(pool).rows
    ]
    return csv_response([head, *rows], f"{pool.name}-seeds.csv")


def _share_chart(report: SeedReport) -> dict[str, Any]:
    """Return the chart of the relations whose shares differ most."""
    rows = report.rows[:SHOWN]
    names = [row.relation for row in rows]  # labels can be equal
    axis = {"tickvals": names, "ticktext": [row.name for row in rows]}
    series = [
        {"name": "test", "colour": "--control", "x": names, "y": [100 * row.test_share for row in rows]},
        {"name": "seeds", "colour": "--accent", "x": names, "y": [100 * row.seeds_share for row in rows]},
    ]
    label = f"Shares of {len(names)} relations among the seeds and in test"
    return chart("seed-shares", "bars", label, series=series, x="% of the triples", lying=True, yaxis=axis)


# -- overlap: which systems found the triples, alone and together --


@evaluator_required
def overlap(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    systems, families = _overlap(pool)
    charts = _overlap_charts(systems) if systems else []
    context = {"pool": pool, "work": work_on(pool), "systems": systems, "families": families, "charts": charts}
    return render(request, "pooling/pools/overlap.html", context)


@evaluator_required
def overlap_csv(request: HttpRequest, name: str) -> HttpResponse:
    """Send one row for each system: what it found, alone, and together with each other."""
    pool = find_pool(name)
    systems, _ = _overlap(pool)
    head = ["system", "found", "only_it", *(f"with_{row['name']}" for row in systems)]
    rows = [[row["name"], row["found"], row["only"], *row["shared"]] for row in systems]
    return csv_response([head, *rows], f"{pool.name}-overlap.csv")


def _overlap(pool: Pool) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return rows of systems and families, cached; both are empty for a pool without provenance."""
    key = f"overlap:{pool.pk}:{contents_version(pool)}"
    found: Any = cache.get_or_set(key, lambda: overlap_report(pool), KEPT_SECONDS)
    return found


def _overlap_charts(systems: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the charts of shared and of lone findings."""
    names = [row["name"] for row in systems]
    values = [[n / row["found"] if row["found"] else None for n in row["shared"]] for row in systems]
    alone = {"name": "found by no other", "x": names, "y": [row["only"] for row in systems]}
    what = "triples that no other system found"
    shares = f"Share of what each of {len(names)} systems found that each other found too"
    lone = f"Triples that only one of {len(names)} systems found"
    return [
        chart("overlap", "matrix", shares, rows=names, columns=names, values=values),
        chart("only-it", "bars", lone, series=[alone], x=what, lying=True, sorted=True),
    ]
