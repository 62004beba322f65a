"""The page Import a test set, which makes a pool of judgements made elsewhere."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render

from core.views.access import manager_required
from core.views.acts import attempt, posted
from core.views.requests import SignedInRequest
from core.views.uploads import kept_file
from evaluation.forms.test_sets import ImportTestSetForm
from evaluation.models import Qrels
from evaluation.test_sets.imports import import_test_set
from pooling.models import Graph

IMPORTED = "Imported {}."


@manager_required
def import_page(request: SignedInRequest) -> HttpResponse:
    form = ImportTestSetForm(posted(request), request.FILES or None)
    if qrels := attempt(form, partial(_import, request.user)):
        left_out = sum(int(entry["count"]) for entry in qrels.pool.report)
        known = f"{left_out:,} lines are known facts and were left out." if left_out else ""
        messages.success(request, " ".join(filter(None, [IMPORTED.format(qrels.name), known, *qrels.notes])))
        return redirect("pool", qrels.pool.name)
    context = {"form": form, "graphs": Graph.objects.filter(archived=False).exists()}
    return render(request, "evaluation/test_sets/import.html", context)


def _import(user: User, asked: dict[str, Any]) -> Qrels:
    graph, file = asked["graph"], asked["file"]
    named = {"name": asked["name"], "format": asked["format"]}
    with kept_file(asked["seeds"]) as seeds:
        return import_test_set(graph, file.read(), str(file.name), seeds_file=seeds, user=user, **named)
