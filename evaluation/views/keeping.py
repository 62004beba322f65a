"""The buttons that archive a graph or pool, and the pages that delete a graph, system, pool or study for good."""

from collections.abc import Mapping

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from core.errors import UserError
from core.forms import TypedNameForm
from core.views.access import SignedInRequest, manager_required
from core.views.acts import or_message, posted
from evaluation.keeping import archive as keeping
from evaluation.keeping import removal
from evaluation.models import Study
from pooling.models import Graph, Pool, System
from pooling.systems.shown_names import shown_name
from pooling.views.find import find_graph, find_pool, find_system

DELETED = "{} is deleted."
_HELD_BY = {"job": ("Job {}", "job"), "pool": ("Pool {}", "pool"), "study": ("Open-world study {}", "open-world-study")}


@require_POST
@manager_required
def graph_archive(request: SignedInRequest, name: str) -> HttpResponse:
    return _archive(request, find_graph(name), reverse("graph", args=[name]))


@require_POST
@manager_required
def pool_archive(request: SignedInRequest, name: str) -> HttpResponse:
    return _archive(request, find_pool(name), reverse("pool", args=[name]))


@manager_required
def graph_delete(request: SignedInRequest, name: str) -> HttpResponse:
    found = find_graph(name)
    return _delete(request, found, reverse("graph", args=[name]), reverse("graphs"), {"graph": found})


@manager_required
def system_delete(request: SignedInRequest, name: str, system: str) -> HttpResponse:
    found = find_system(name, system)
    page, after = reverse("system", args=[name, system]), reverse("systems", args=[name])
    return _delete(
        request, found, page, after, {"graph": found.graph, "system": found, "shown_name": shown_name(found.name)}
    )


@manager_required
def pool_delete(request: SignedInRequest, name: str) -> HttpResponse:
    found = find_pool(name)
    return _delete(request, found, reverse("pool", args=[name]), reverse("pools"), {"pool": found})


@manager_required
def study_delete(request: SignedInRequest, name: str) -> HttpResponse:
    found, page = get_object_or_404(Study, name=name), reverse("open-world-study", args=[name])
    return _delete(request, found, page, reverse("open-world-studies"), {"study": found})


def _archive(request: SignedInRequest, subject: Graph | Pool, page: str) -> HttpResponse:
    """Move it into the archive, or out of it where `back` was posted; then show its page."""

    def move() -> str:
        if request.POST.get("back"):
            keeping.take_back(subject, request.user)
            return f"{subject.name} is restored."
        keeping.archive(subject, request.user)
        return f"{subject.name} is archived: lists no longer show it, and you can restore it."

    if said := or_message(request, move):
        messages.success(request, said)
    return redirect(page)


def _delete(
    request: SignedInRequest, subject: removal.Subject, page: str, after: str, named: Mapping[str, object]
) -> HttpResponse:
    """Show what goes with the subject, or delete it once its name is typed; `named` is what its breadcrumbs name."""
    form, problem = TypedNameForm(posted(request), expected=subject.name), ""
    called = named.get("shown_name", subject.name)
    if form.is_valid():
        try:
            removal.remove(subject, request.user)
        except UserError as error:
            problem = str(error)
        else:
            messages.success(request, DELETED.format(called))
            return redirect(after)
    preview = removal.preview(subject)
    shown: dict[str, object] = {"subject": subject, "preview": preview, "form": form, "page": page, "problem": problem}
    named_pages = [(name, *_HELD_BY[kind]) for kind, name in preview.held_by]
    shown["held_by"] = [(words.format(name), reverse(at, args=[name])) for name, words, at in named_pages]
    shown |= {"archive_url": _archive_url(subject), "called": called}
    return render(request, "evaluation/keeping/delete_confirm.html", {**named, **shown})


def _archive_url(subject: removal.Subject) -> str:
    """Return where to post that a subject is archived; "" where it is, or cannot be."""
    if isinstance(subject, Study) or subject.archived:
        return ""
    if isinstance(subject, System):
        return reverse("system-archive", args=[subject.graph.name, subject.name])
    return reverse("graph-archive" if isinstance(subject, Graph) else "pool-archive", args=[subject.name])
