"""The page Runs of a graph: what its systems returned; runs made elsewhere are uploaded there, and each is a file."""

from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from core.jobs.lifecycle import live_jobs
from core.people.roles import Right
from core.views.access import SignedInRequest, evaluator_required, manager_required, page_refusal, right_required
from core.views.acts import attempt, or_message, posted, tell_queued
from core.views.files import stream_response
from core.views.pagination import page_of
from pooling.forms.runs import ReplaceForm, RunForm
from pooling.models import System
from pooling.runs.adapters.registry import ADAPTERS
from pooling.runs.export import PARQUET_TYPE, parquet_pieces, whole_run
from pooling.runs.imports import Imported, import_sent_run
from pooling.runs.ownership import OwnerError, delete_run, is_private_at_first, publish, visible_runs
from pooling.runs.parts import refused_uploads
from pooling.runs.start_scoring import start_scoring, systems_to_score
from pooling.runs.trec_write import packed
from pooling.training.train import family_of
from pooling.views.find import find_graph, find_pool, find_run

WHOLE_BYTES = 4_000_000  # a larger file is sent in parts, where the browser has the script
PUBLISHED = "{} is published: everybody who evaluates sees it now."
DELETED = "The run {} was deleted."
REPLACED = "The run of {} was replaced."


@evaluator_required
@right_required(Right.BRING_RUNS, "POST")
def runs(request: SignedInRequest, name: str) -> HttpResponse:
    """Show every run of a graph; POST brings one from elsewhere."""
    graph = find_graph(name)
    form = RunForm(graph, posted(request), request.FILES or None)

    def bring(asked: dict[str, Any]) -> Imported:
        pool = graph.pools.get(name=asked["pool"]) if asked["pool"] else None
        options = {name: asked[name] for name in ("name", "family", "form", "scores_decide", "topics")}
        return import_sent_run(graph, asked["file"], **options, user=request.user, pool=pool)

    if imported := attempt(form, bring, "file"):
        messages.success(request, " ".join([f"Imported {imported.system.name}.", *imported.notes]))
        return redirect("run", name, imported.system.name) if imported.system.private else redirect("runs", name)
    rows = visible_runs(request.user).filter(system__graph=graph).order_by("system_id")
    content = {"graph": graph, "page": page_of(request, rows), "form": form, "adapters": ADAPTERS.values()}
    content["whole_bytes"] = WHOLE_BYTES
    content["work"] = live_jobs(Q(graph=graph) | Q(system__graph=graph) | Q(pool__graph=graph))
    content["refused"] = refused_uploads(graph, request.user)
    content["private_at_first"] = is_private_at_first(request.user)
    return render(request, "pooling/runs/list.html", content)


@require_safe
@evaluator_required
@page_refusal
def run_file(request: SignedInRequest, name: str, system: str) -> StreamingHttpResponse:
    """Send the whole run in TREC form."""
    run = find_run(request.user, name, system)
    return stream_response(packed(whole_run(run)), f"{name}-{system}.txt.gz")


@require_safe
@evaluator_required
@page_refusal
def run_parquet(request: SignedInRequest, name: str, system: str) -> StreamingHttpResponse:
    """Send the whole run as Parquet."""
    run = find_run(request.user, name, system)
    return stream_response(parquet_pieces(run), f"{name}-{system}.parquet", PARQUET_TYPE)


@right_required(Right.BRING_RUNS)
@require_POST
def run_publish(request: SignedInRequest, name: str, system: str) -> HttpResponse:
    """Publish an own run."""
    found = find_run(request.user, name, system).system

    def do() -> None:
        publish(found, request.user)
        messages.success(request, PUBLISHED.format(found.name))

    or_message(request, do)
    return redirect("run", name, system)


@right_required(Right.BRING_RUNS)
@require_POST
def run_delete(request: SignedInRequest, name: str, system: str) -> HttpResponse:
    """Delete an own run."""
    found = find_run(request.user, name, system).system

    def do() -> System:
        delete_run(found, request.user)
        messages.success(request, DELETED.format(found.name))
        return found

    return redirect("runs", name) if or_message(request, do) else redirect("run", name, system)


@right_required(Right.BRING_RUNS)
@require_POST
def run_replace(request: SignedInRequest, name: str, system: str) -> HttpResponse:
    """Let another file take the place of an own run."""
    found = find_run(request.user, name, system).system
    form = ReplaceForm(request.POST, request.FILES)

    def do() -> None:
        if not form.is_valid():
            raise OwnerError("Choose a file to send; the run stays as it was.")
        options = {key: form.cleaned_data[key] for key in ("scores_decide", "topics")}
        told = import_sent_run(
            found.graph,
            form.cleaned_data["file"],
            name=found.name,
            user=request.user,
            replaces=found,
            family=family_of(found),
            **options,
        )
        messages.success(request, " ".join([REPLACED.format(found.name), *told.notes]))

    or_message(request, do)
    return redirect("run", name, system)


@require_POST
@manager_required
def score(request: SignedInRequest, name: str) -> HttpResponse:
    """Score what the systems of a pool lack; its overview shows the progress."""
    pool = find_pool(name)
    jobs = or_message(request, lambda: start_scoring(pool, systems_to_score(pool), user=request.user))
    if jobs is not None:
        tell_queued(request, f"{len(jobs)} system{' is' if len(jobs) == 1 else 's are'} being scored.")
    return redirect("pool", name)
