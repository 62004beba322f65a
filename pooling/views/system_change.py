"""What managers do with one system: train a new one, clone, train anew, archive."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from core.errors import UserError
from core.jobs.lifecycle import live_workers
from core.views.access import manager_required
from pooling.forms.systems import SystemForm
from pooling.models import Graph, System
from pooling.systems import Entry, SystemSpec, get_by_slug, get_system
from pooling.systems.spec import with_neutral
from pooling.training import upkeep
from pooling.training.compare import shown
from pooling.training.train import refuse_imported


@manager_required
def new(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    """One system of a kind, with all of its settings."""
    graph = get_object_or_404(Graph, name=name)
    try:
        spec = get_by_slug(kind)
    except ValueError as error:
        raise Http404(str(error)) from error
    seed = upkeep.free_seed(graph, spec.name)
    wanted = f"{spec.slug}-s{seed}" if seed else spec.slug
    return _add(request, graph, spec, {"name": upkeep.free_name(graph, wanted), "seed": seed}, {})


@manager_required
def clone(request: HttpRequest, name: str, system: str) -> HttpResponse:
    """A new system that begins with the settings of another."""
    found = _system(name, system)
    if found.is_imported:
        return _refused(request, found, "cloned")
    initial = {
        "name": upkeep.free_name(found.graph, found.name),
        "seed": upkeep.free_seed(found.graph, found.kind),
        **_initial(found),
    }
    return _add(request, found.graph, _spec(found.kind), initial, {"system": found, "original": found})


def _add(
    request: HttpRequest, graph: Graph, spec: Entry, initial: dict[str, Any], context: dict[str, Any]
) -> HttpResponse:
    form = SystemForm(graph, spec, request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            made = upkeep.add_system(
                graph,
                spec.name,
                name=asked["name"],
                seed=asked["seed"],
                overrides=asked["settings"],
                device=asked["device"],
                user=request.user,  # type: ignore[arg-type]  # signed in
            )
        except UserError as error:
            form.refuse(str(error))
        else:
            messages.success(request, f"Training of {made.name} is queued.")
            return redirect("system", graph.name, made.name)
    return _form(request, graph, spec, form, context)


@manager_required
def retrain(request: HttpRequest, name: str, system: str) -> HttpResponse:
    """The same row, trained from the start; offered while nothing rests on it."""
    found = _system(name, system)
    if found.is_imported:
        return _refused(request, found, "trained")
    spec = _spec(found.kind)
    used = upkeep.uses_of(found)
    if used and request.method != "POST":
        messages.error(request, f"{found.name} stays as it is, since {' and '.join(used)}: clone it instead.")
        return redirect("system", name, system)
    form = SystemForm(
        found.graph, spec, request.POST or None, named=False, initial={"seed": found.seed, **_initial(found)}
    )
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            upkeep.train_anew(
                found,
                seed=asked["seed"],
                overrides=asked["settings"],
                device=asked["device"],
                user=request.user,  # type: ignore[arg-type]  # signed in
            )
        except UserError as error:
            form.refuse(str(error))
        else:
            messages.success(request, f"{found.name} is trained anew: its job is queued.")
            return redirect("system", name, system)
    return _form(request, found.graph, spec, form, {"system": found, "again": found})


@manager_required
@require_POST
def archive(request: HttpRequest, name: str, system: str) -> HttpResponse:
    found = _system(name, system)
    try:
        upkeep.archive(found, request.user)  # type: ignore[arg-type]  # signed in
    except UserError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{found.name} is archived. Pools that use it keep it; it can be taken back.")
    return redirect("system", name, system)


@manager_required
@require_POST
def restore(request: HttpRequest, name: str, system: str) -> HttpResponse:
    found = _system(name, system)
    upkeep.restore(found, request.user)  # type: ignore[arg-type]  # signed in
    messages.success(request, f"{found.name} is in the lists again.")
    return redirect("system", name, system)


def _system(graph: str, name: str) -> System:
    return get_object_or_404(System.objects.select_related("graph"), graph__name=graph, name=name)


def _refused(request: HttpRequest, system: System, what: str) -> HttpResponse:
    """Back to the page of an imported system, with the reason."""
    try:
        refuse_imported(system, what)
    except UserError as error:
        messages.error(request, str(error))
    return redirect("system", system.graph.name, system.name)


def _spec(kind: str) -> Entry:
    try:
        return get_system(kind)
    except ValueError as error:
        raise Http404(str(error)) from error


def _initial(system: System) -> dict[str, Any]:
    """The settings of a system as its form has them; an older row's silence is no wish for today's preset."""
    models = isinstance(_spec(system.kind), SystemSpec)
    settings = with_neutral(system.settings) if models else system.settings
    return {"device" if key == "device" else f"set_{key}": shown(value) for key, value in settings.items()}


def _form(request: HttpRequest, graph: Graph, spec: Entry, form: SystemForm, context: dict[str, Any]) -> HttpResponse:
    context |= {"graph": graph, "spec": spec, "form": form, "no_worker": not live_workers().exists()}
    return render(request, "pooling/systems/form.html", context)
