"""Archiving and deleting: a preview of what goes, and the name to be typed."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from core.errors import UserError
from core.views.access import manager_required
from evaluation.forms.keeping import TypedNameForm
from evaluation.keeping import archive as keeping
from evaluation.keeping import removal
from evaluation.models import Study
from pooling.models import Graph, Pool, System


@require_POST
@manager_required
def graph_archive(request: HttpRequest, name: str) -> HttpResponse:
    return _archive(request, get_object_or_404(Graph, name=name), reverse("graph", args=[name]))


@require_POST
@manager_required
def pool_archive(request: HttpRequest, name: str) -> HttpResponse:
    return _archive(request, get_object_or_404(Pool, name=name), reverse("pool", args=[name]))


@manager_required
def graph_delete(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(Graph, name=name)
    return _delete(request, found, reverse("graph", args=[name]), reverse("graphs"), {"graph": found})


@manager_required
def system_delete(request: HttpRequest, name: str, system: str) -> HttpResponse:
    found = get_object_or_404(System.objects.select_related("graph"), graph__name=name, name=system)
    above = {"graph": found.graph, "system": found}
    return _delete(request, found, reverse("system", args=[name, system]), reverse("systems", args=[name]), above)


@manager_required
def pool_delete(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(Pool, name=name)
    return _delete(request, found, reverse("pool", args=[name]), reverse("pools"), {"pool": found})


@manager_required
def study_delete(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(Study, name=name)
    return _delete(
        request, found, reverse("open-world-study", args=[name]), reverse("open-world-studies"), {"study": found}
    )


def _archive(request: HttpRequest, subject: Graph | Pool, page: str) -> HttpResponse:
    """Into the archive, or with `back` out of it."""
    assert isinstance(request.user, User)  # signed in
    try:
        if request.POST.get("back"):
            keeping.take_back(subject, request.user)
            messages.success(request, f"{subject.name} is in the lists again.")
        else:
            keeping.archive(subject, request.user)
            messages.success(request, f"{subject.name} is archived: it is in no list, and can be taken back.")
    except UserError as error:
        messages.error(request, str(error))
    return redirect(page)


def _delete(
    request: HttpRequest, subject: removal.Subject, page: str, after: str, named: Mapping[str, object]
) -> HttpResponse:
    """Show what goes with the subject, or delete it once its name is typed; `named` is what its breadcrumbs name."""
    assert isinstance(request.user, User)  # signed in
    form = TypedNameForm(request.POST or None, expected=subject.name)
    problem = ""
    if request.method == "POST" and form.is_valid():
        try:
            removal.remove(subject, request.user)
        except UserError as error:
            problem = str(error)
        else:
            messages.success(request, f"{subject.name} is deleted.")
            return redirect(after)
    context = {
        **named,
        "subject": subject,
        "preview": removal.preview(subject),
        "form": form,
        "page": page,
        "problem": problem,
    }
    return render(request, "evaluation/keeping/delete_confirm.html", context)
