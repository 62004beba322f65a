"""The pages All systems, Systems of a graph, System and Compare, and the files of systems."""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render

from core.enums import LIVE, JobState
from core.jobs.lifecycle import live_jobs, start_job
from core.models import Job
from core.people.roles import can_manage
from core.views.access import SignedInRequest, evaluator_required, manager_posts, page_refusal
from core.views.acts import attempt, posted, tell_queued
from core.views.files import csv_response, stream_response
from core.views.pagination import archivable_page, page_of
from pooling.enums import PoolingJob, SystemState
from pooling.forms.systems import PykeenForm, TrainForm
from pooling.models import Graph, Run, System
from pooling.rules.in_words import has_rules, rules_page, rules_tsv
from pooling.systems import SYSTEMS, find_entry
from pooling.systems.shown_names import shown_name
from pooling.systems.spec import FAMILIES
from pooling.training.compare import compare, shown
from pooling.training.curves import compared_charts, history_curves
from pooling.training.files import FILES, has_files, open_file
from pooling.training.seed_families import own_family
from pooling.training.train import create_systems, family_of
from pooling.training.upkeep import uses_of
from pooling.views.find import find_graph, find_system

EPOCH = 100  # a training job counts hundredths of an epoch
NOTHING_STARTED = "All of these are trained already; nothing was started."


@evaluator_required
def all_systems(request: HttpRequest) -> HttpResponse:
    rows = System.objects.select_related("graph", "run").order_by("graph__name", "id")
    page = page_of(request, rows.filter(archived=False, graph__archived=False))
    context = {"page": page, "families": families_of(page), "working": working_on(page)}
    return render(request, "pooling/systems/all.html", context)


@evaluator_required
@manager_posts
def systems(request: SignedInRequest, name: str) -> HttpResponse:
    """Show the systems of a graph; POST trains some (managers), and ?model= leads to the form of a PyKEEN model."""
    graph = find_graph(name)
    form = TrainForm(graph, posted(request))
    if started := attempt(form, partial(_train, graph, request.user)):
        (messages.info if started == NOTHING_STARTED else tell_queued)(request, started)
        return redirect("systems", name)
    other = PykeenForm(request.GET if "model" in request.GET else None)
    if can_manage(request.user) and other.is_valid():
        return redirect("system-new", name, other.cleaned_data["model"].slug)
    listed = archivable_page(request, graph.systems.select_related("run").order_by("id"), "systems")
    context = {
        "graph": graph,
        **listed,
        "families": families_of(listed["page"]),
        "working": working_on(listed["page"]),
        "may_pool": may_pool(graph),
        "form": form,
        "choices": _choices(form),
        "other": other,
    }
    return render(request, "pooling/systems/list.html", context)


def families_of(page: Any) -> dict[int, str]:
    """Return the family of each system of a page, by id."""
    return {system.pk: family_of(system) for system in page}


def working_on(systems: Iterable[System]) -> dict[int | None, Job]:
    """Return the oldest job under way of each system that has one, by the id of the system.

    A job's progress is written once a second at most, epochs as they end: training has got as far as its epochs.
    """
    of = {system.pk: system for system in systems}
    working = {job.system_id: job for job in reversed(live_jobs(Q(system__in=list(of))))}
    for job in working.values():
        system = of[job.system_id]  # type: ignore[index]
        if job.kind == PoolingJob.TRAIN and system.state == SystemState.TRAINING:
            job.done = max(job.done, system.epochs_done * EPOCH)
    return working


def may_pool(graph: Graph) -> bool:
    """Return whether two systems of a graph are trained and none waits or trains: the next step is a pool."""
    states = Counter(graph.systems.filter(archived=False, private=False).values_list("state", flat=True))
    return states[SystemState.TRAINED] >= 2 and not states[SystemState.WAITING] + states[SystemState.TRAINING]


def _choices(form: TrainForm) -> list[tuple[str, str, list[tuple[Any, Any, float]]]]:
    """Return the check boxes by family: its name, its description, and (box, registry row, seconds) of its systems.

    The seconds are those of `form.took`, or 0.
    """
    boxes = [(box, SYSTEMS[box.data["value"]]) for box in form["kinds"]]
    own = {
        name: [(box, spec, form.took.get(spec.name, 0)) for box, spec in boxes if spec.family == name]
        for name in FAMILIES
    }
    return [(name, about, own[name]) for name, about in FAMILIES.items() if own[name]]


def _train(graph: Graph, user: User, asked: dict[str, Any]) -> str:
    """Make the systems and the jobs that train them; return what was started, in words."""
    made = create_systems(graph, asked["kinds"], asked["settings"], asked["seeds"], asked["device"], asked["best"])
    waiting = [system for system in made if system.state != SystemState.TRAINED]
    for system in waiting:
        start_job(PoolingJob.TRAIN, system=system, user=user)
    if not waiting:
        return NOTHING_STARTED
    return f"Training of {', '.join(shown_name(system.name) for system in waiting)} was queued."


@evaluator_required
def system(request: HttpRequest, name: str, system: str) -> HttpResponse:
    found = find_system(name, system)
    jobs = list(found.jobs.order_by("-id").defer("log")[:5])
    context = {
        "graph": found.graph,
        "system": found,
        "shown_name": shown_name(found.name),
        "spec": find_entry(found.kind),
        "run": Run.objects.filter(system=found).first(),
        "curves": history_curves(found.history),
        "settings": _settings(found),
        "jobs": jobs,
        "failed": next((job for job in jobs[:1] if job.state == JobState.FAILED), None),
        "busy": any(job.state in LIVE for job in jobs),
        "work": live_jobs(Q(system=found)),
        "pools": found.pools.order_by("name"),
        "uses": uses_of(found),
        "files": list(FILES) if has_files(found) else [],
        "family": own_family(found),
        "rules": rules_page(found, request.GET.get("relation")),
    }
    return render(request, "pooling/systems/detail.html", context)


def _settings(system: System) -> list[tuple[str, str, str, str]]:
    """Return (key, value, the preset if it differs, help) for each setting of a system."""
    spec = find_entry(system.kind)
    known = spec.settings if spec else {}
    preset = spec.preset(system.graph.num_entities, system.graph.num_train) if spec else {}
    other = {key: shown(preset[key]) for key, value in system.settings.items() if preset.get(key, value) != value}
    help_of = {key: setting.help for key, setting in known.items()}
    return [(key, shown(value), other.get(key, ""), help_of.get(key, "")) for key, value in system.settings.items()]


@evaluator_required
def compared(request: HttpRequest, name: str) -> HttpResponse:
    """Show systems of one graph side by side: those of ?systems=, or all that are not archived."""
    graph = find_graph(name)
    asked = request.GET.getlist("systems")
    found = compare(graph, asked)
    placed = list(zip(found.systems, found.colours, strict=True))
    charts = compared_charts([(system.name, place, system.history) for system, place in placed])
    context = {
        "graph": graph,
        "found": found,
        "rows": [(system, place, family_of(system)) for system, place in placed],
        "working": working_on(found.systems),
        "charts": charts,
        "every": graph.systems.order_by("id").only("graph", "name", "archived"),
        "chosen": {system.name for system in found.systems},
        "missing": sorted(set(asked) - {system.name for system in found.systems}),
    }
    return render(request, "pooling/systems/compare.html", context)


@evaluator_required
def compared_csv(request: HttpRequest, name: str, chart: str) -> HttpResponse:
    """Send the values of one chart: a row for each epoch, a column for each system."""
    found = compare(find_graph(name), request.GET.getlist("systems"))
    charts = compared_charts([(system.name, 0, system.history) for system in found.systems])
    for drawn in charts:
        if drawn.key == chart:
            rows = [("epoch", *drawn.columns), *((epoch, *values) for epoch, values in drawn.rows)]
            return csv_response(rows, f"{name}-{chart}.csv")
    known = ", ".join(drawn.key for drawn in charts) or "none"
    raise Http404(f"These systems have no chart {chart}: there are {known}.")


@evaluator_required
@page_refusal
def system_file(request: HttpRequest, name: str, system: str, file: str) -> FileResponse:
    """Send the weights, embeddings or names of a trained system."""
    found = find_system(name, system)
    if file not in FILES:
        raise Http404(f"A system has no file {file}: it has {', '.join(FILES)}.")
    return FileResponse(open_file(found, file), as_attachment=True, filename=f"{name}-{system}-{file}")


@evaluator_required
def system_rules(request: HttpRequest, name: str, system: str) -> StreamingHttpResponse:
    """Send all mined rules of a system as TSV."""
    found = find_system(name, system)
    if not has_rules(found):
        raise Http404(f"{system} has no rules: it mines none, or is not trained yet.")
    return stream_response(rules_tsv(found), f"{name}-{system}-rules.tsv")
