"""The page Label sets of a pool: the triples in each by state; managers import judgements made elsewhere there."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from core.errors import UserError
from core.people.roles import can_manage
from core.views.access import SignedInRequest, evaluator_required, text_refusal
from core.views.acts import attempt, posted
from evaluation.browse.label_set_rows import LabelSetRow, label_set_row, label_set_rows
from evaluation.browse.tables import label_set_table
from evaluation.forms.test_sets import ImportQrelsForm
from evaluation.labels.import_qrels import import_qrels
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table
from evaluation.models import Qrels
from evaluation.views.csv_file import table_response
from pooling.models import Pool
from pooling.views.find import find_pool

no_copies = cache_control(no_store=True)  # managers see names of annotators

IMPORTED = "Imported qrels {}."


@evaluator_required
@no_copies
def labels(request: SignedInRequest, name: str) -> HttpResponse:
    """Show every label set, with ?until=TIME also the labels at that time; POST imports qrels (managers)."""
    pool = find_pool(name)
    form = ImportQrelsForm(posted(request), request.FILES or None)
    if request.method == "POST" and not can_manage(request.user):
        raise PermissionDenied

    def bring(asked: dict[str, Any]) -> Qrels:
        content, file_name = asked["file"].read(), str(asked["file"].name)
        named = {name: asked[name] for name in ("format", "threshold")}
        return import_qrels(pool, asked["name"], content, file_name, user=request.user, **named)

    if qrels := attempt(form, bring, "file"):
        messages.success(request, " ".join([IMPORTED.format(qrels.name), *qrels.notes]))
        return redirect("evaluation-labels", name)
    until = request.GET.get("until", "").strip()
    context = {"pool": pool, "form": form, "until": until, **_table(request, pool, until)}
    return render(request, "evaluation/labels/labels.html", context)


@require_safe
@evaluator_required
@no_copies
@text_refusal
def labels_csv(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    rows = label_set_rows(pool, pool_table(pool), request.user)
    return table_response(label_set_table(rows), [pool.name, "label-sets"])


def _table(request: HttpRequest, pool: Pool, until: str) -> dict[str, Any]:
    """Return the rows of the table by group, or the problem that prevents it."""
    try:
        table = pool_table(pool)
        rows = label_set_rows(pool, table, request.user)
    except UserError as error:
        return {"problem": str(error)}
    found: dict[str, Any] = {}
    if until:  # the first row, since it was just asked for
        try:
            rows.insert(0, label_set_row(label_set(pool, table, f"until:{until}"), "As they stood"))
        except UserError as error:
            found["until_problem"] = str(error)
    groups: dict[str, list[LabelSetRow]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return found | {"groups": groups}
