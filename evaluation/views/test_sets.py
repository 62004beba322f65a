"""Bringing a judged test set that was made elsewhere."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from core.errors import UserError
from core.views.access import manager_required
from core.views.uploads import kept_file
from evaluation.forms.test_sets import ImportTestSetForm
from evaluation.models import Qrels
from evaluation.test_sets.imports import import_test_set
from pooling.models import Graph


@manager_required
def import_page(request: HttpRequest) -> HttpResponse:
    form = ImportTestSetForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid() and (qrels := _import(request, form)) is not None:
        left_out = sum(int(entry["count"]) for entry in qrels.pool.report)
        known = f"{left_out:,} lines are known facts and were left out." if left_out else ""
        messages.success(request, " ".join(filter(None, [f"Imported {qrels.name}.", known, *qrels.notes])))
        return redirect("pool", qrels.pool.name)
    context = {"form": form, "graphs": Graph.objects.filter(archived=False).exists()}
    return render(request, "evaluation/test_sets/import.html", context)


def _import(request: HttpRequest, form: ImportTestSetForm) -> Qrels | None:
    """None, with the reason at the form, if the file is refused."""
    asked = form.cleaned_data
    assert isinstance(request.user, User)  # signed in
    try:
        with kept_file(asked["seeds"]) as seeds:
            return import_test_set(
                asked["graph"],
                asked["file"].read(),
                str(asked["file"].name),
                name=asked["name"],
                format=asked["format"],
                seeds_file=seeds,
                user=request.user,
            )
    except UserError as error:
        form.add_error(None, str(error))
        return None
