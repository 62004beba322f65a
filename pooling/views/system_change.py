"""The pages with which managers make and change one system: new, clone, train anew, archive."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from core.views.access import SignedInRequest, manager_required
from core.views.acts import attempt, or_message, posted, tell_queued
from pooling.forms.systems import SystemForm
from pooling.models import Graph, System
from pooling.systems import get_by_slug, get_system
from pooling.systems.shown_names import shown_name
from pooling.systems.spec import Entry, SystemSpec, with_neutral
from pooling.training import upkeep
from pooling.training.compare import shown
from pooling.training.train import refuse_imported
from pooling.views.find import find_graph, find_system

ARCHIVED = "{} is archived. Pools that use it keep it; you can restore it."
RESTORED = "{} is restored."


@manager_required
def new(request: SignedInRequest, name: str, kind: str) -> HttpResponse:
    """Show the form of a new system of a kind; POST makes it and starts its training."""
    graph, spec = find_graph(name), _entry(get_by_slug, kind)
    seed = upkeep.free_seed(graph, spec.name)
    wanted = f"{spec.slug}-s{seed}" if seed else spec.slug
    return _add(request, graph, spec, {"name": upkeep.free_name(graph, wanted), "seed": seed}, {})


@manager_required
def clone(request: SignedInRequest, name: str, system: str) -> HttpResponse:
    """Show the form of a new system with the settings of another; POST makes it and starts its training."""
    found = find_system(name, system)
    if found.is_imported:
        return _refused(request, found, "cloned")
    free = {"name": upkeep.free_name(found.graph, found.name), "seed": upkeep.free_seed(found.graph, found.kind)}
    context = {"system": found, "shown_name": shown_name(found.name), "original": found}
    return _add(request, found.graph, _entry(get_system, found.kind), free | _initial(found), context)


def _add(
    request: SignedInRequest, graph: Graph, spec: Entry, initial: dict[str, Any], context: dict[str, Any]
) -> HttpResponse:
    form = SystemForm(graph, spec, posted(request), initial=initial)

    def add(asked: dict[str, Any]) -> System:
        return upkeep.add_system(graph, spec.name, name=asked["name"], **_training(asked, request.user))

    if made := attempt(form, add):
        tell_queued(request, f"Training of {shown_name(made.name)} was queued.")
        return redirect("system", graph.name, made.name)
    return _form(request, graph, spec, form, context)


@manager_required
def retrain(request: SignedInRequest, name: str, system: str) -> HttpResponse:
    """Show the form that trains a system from the start, which is offered while nothing rests on it; POST does it."""
    found = find_system(name, system)
    if found.is_imported:
        return _refused(request, found, "trained")
    used = upkeep.uses_of(found)
    if used and request.method != "POST":
        messages.error(request, f"{found.name} stays as it is, since {' and '.join(used)}: clone it instead.")
        return redirect("system", name, system)
    spec, initial = _entry(get_system, found.kind), {"seed": found.seed, **_initial(found)}
    form = SystemForm(found.graph, spec, posted(request), named=False, initial=initial)
    if attempt(form, lambda asked: upkeep.train_anew(found, **_training(asked, request.user))):
        tell_queued(request, f"{shown_name(found.name)} is trained anew: its job was queued.")
        return redirect("system", name, system)
    return _form(
        request, found.graph, spec, form, {"system": found, "shown_name": shown_name(found.name), "again": found}
    )


def _training(asked: dict[str, Any], user: User) -> dict[str, Any]:
    """Return the arguments of a training from the fields of SystemForm."""
    return {"seed": asked["seed"], "overrides": asked["settings"], "device": asked["device"], "user": user}


@manager_required
@require_POST
def archive(request: SignedInRequest, name: str, system: str) -> HttpResponse:
    said = ARCHIVED.format(system)
    return _move(request, find_system(name, system), upkeep.archive, said)


@manager_required
@require_POST
def restore(request: SignedInRequest, name: str, system: str) -> HttpResponse:
    return _move(request, find_system(name, system), upkeep.restore, RESTORED.format(system))


def _move(request: SignedInRequest, system: System, act: Callable[[System, User], None], said: str) -> HttpResponse:
    """Move a system into the archive or out of it, say so, and go back to its page."""

    def move() -> None:
        act(system, request.user)
        messages.success(request, said)

    or_message(request, move)
    return redirect("system", system.graph.name, system.name)


def _refused(request: HttpRequest, system: System, what: str) -> HttpResponse:
    """Go back to the page of an imported system with the reason why it cannot be cloned or trained."""
    or_message(request, lambda: refuse_imported(system, what))
    return redirect("system", system.graph.name, system.name)


def _entry(find: Callable[[str], Entry], name: str) -> Entry:
    """Return the registry's entry of a kind of system; 404 if there is none."""
    try:
        return find(name)
    except ValueError as error:
        raise Http404(str(error)) from error


def _initial(system: System) -> dict[str, Any]:
    """Return the settings of a system as initial values of its form.

    A setting that an older row lacks gets its neutral value, not the present preset.
    """
    models = isinstance(_entry(get_system, system.kind), SystemSpec)
    settings = with_neutral(system.settings) if models else system.settings
    return {"device" if key == "device" else f"set_{key}": shown(value) for key, value in settings.items()}


def _form(request: HttpRequest, graph: Graph, spec: Entry, form: SystemForm, context: dict[str, Any]) -> HttpResponse:
    context |= {"graph": graph, "spec": spec, "form": form}
    return render(request, "pooling/systems/form.html", context)
