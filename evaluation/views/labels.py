"""The label sets of a pool: what is in each, and importing one."""

from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from core.errors import UserError
from core.people.permissions import can_manage
from core.views.access import evaluator_required
from evaluation.browse.label_table import LabelRow, label_rows, row_of
from evaluation.browse.list_tables import label_set_table
from evaluation.forms.qrels import ImportQrelsForm
from evaluation.labels.import_qrels import import_qrels
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table
from evaluation.views.csv_file import csv_file
from pooling.models import Pool


@evaluator_required
def labels(request: HttpRequest, name: str) -> HttpResponse:
    """Every label set; ?until=TIME adds the labels as they stood then. Managers import qrels."""
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    form = ImportQrelsForm()
    if request.method == "POST":
        if not can_manage(request.user):
            raise PermissionDenied
        form = ImportQrelsForm(request.POST, request.FILES)
        if form.is_valid() and _import(request, pool, form):
            return redirect("evaluation-labels", name)
    context = {"pool": pool, "form": form, "until": request.GET.get("until", "").strip()}
    context |= _table(request, pool, str(context["until"]))
    response = render(request, "evaluation/labels/labels.html", context)
    response["Cache-Control"] = "no-store"  # names of annotators, for managers
    return response


@require_safe
@evaluator_required
def labels_csv(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool, name=name)
    try:
        rows = label_rows(pool, pool_table(pool), request.user)
    except UserError as error:
        return HttpResponse(str(error), status=400, content_type="text/plain; charset=utf-8")
    response = csv_file(asdict(label_set_table(rows)), [pool.name, "label-sets"])
    response["Cache-Control"] = "no-store"  # names of annotators, for managers
    return response


def _import(request: HttpRequest, pool: Pool, form: ImportQrelsForm) -> bool:
    """Whether the file was taken; if not, the form says why."""
    asked = form.cleaned_data
    assert isinstance(request.user, User)  # signed in
    try:
        qrels = import_qrels(
            pool, asked["name"], asked["file"].read(), str(asked["file"].name), asked["format"], request.user
        )
    except UserError as error:
        form.add_error("file", str(error))
        return False
    messages.success(request, " ".join([f"Imported qrels {qrels.name}.", *qrels.notes]))
    return True


def _table(request: HttpRequest, pool: Pool, until: str) -> dict[str, Any]:
    """Rows of the table by group; or the problem that keeps it from being there."""
    try:
        table = pool_table(pool)
        rows = label_rows(pool, table, request.user)
    except UserError as error:
        return {"problem": str(error)}
    found: dict[str, Any] = {}
    if until:  # first: it was just asked for
        try:
            rows.insert(0, row_of(label_set(pool, table, f"until:{until}"), "As they stood"))
        except UserError as error:
            found["until_problem"] = str(error)
    groups: dict[str, list[LabelRow]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return found | {"groups": groups}
