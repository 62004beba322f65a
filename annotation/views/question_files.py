"""Questions as files: all templates out and in again, and the entities that people see by their keys."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.forms.questions import TemplatesFileForm
from annotation.questions.files import Change, read_upload, save_changes, templates_tsv
from annotation.questions.review import missing_labels
from annotation.questions.templates import texts_of
from core.errors import UserError
from core.views.access import evaluator_required, manager_required
from pooling.models import Pool

SHOWN = 200


def _pool(name: str) -> Pool:
    return get_object_or_404(Pool.objects.select_related("graph"), name=name)


def _tsv(text: str, file_name: str) -> HttpResponse:
    response = HttpResponse(text, content_type="text/tab-separated-values; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file_name}"'
    return response


@evaluator_required
def questions_tsv(request: HttpRequest, name: str) -> HttpResponse:
    """Of the relations that people are asked about, or ?of=graph of all."""
    pool = _pool(name)
    if request.GET.get("of") == "graph":
        return _tsv(templates_tsv(pool.graph), f"{pool.graph.name}-relation_templates.tsv")
    return _tsv(templates_tsv(pool.graph, pool), f"{pool.name}-relation_templates.tsv")


@manager_required
def import_questions(request: HttpRequest, name: str) -> HttpResponse:
    """A file, then what it changes, then the changes: the second form carries the text of the file."""
    pool = _pool(name)
    form = TemplatesFileForm(request.POST, request.FILES) if request.method == "POST" else None
    changes = None
    if form is not None and form.is_valid():
        raw, file_name = form.cleaned_data["raw"], form.cleaned_data["file_name"] or "file"
        try:
            changes = read_upload(pool.graph, raw, file_name)
            if form.cleaned_data["file"] is None:
                assert isinstance(request.user, User)  # manager_required
                count = save_changes(pool.graph, changes, by=request.user, pool=pool)
                messages.success(request, f"{count} relation{'s have' if count != 1 else ' has'} new questions.")
                return redirect("pool-questions", name)
        except UserError as error:
            changes = None
            form.add_error("file", str(error))
    context = {"pool": pool, "form": form or TemplatesFileForm(), "changes": None, "shown": SHOWN}
    if changes is not None and form is not None:
        context |= {
            "changes": [(change.relation.key, _lines(change)) for change in changes[:SHOWN]],
            "num_changes": len(changes),
            "text": form.cleaned_data["raw"].decode("utf-8-sig"),
            "file_name": form.cleaned_data["file_name"],
        }
    return render(request, "annotation/questions/import.html", context)


def _lines(change: Change) -> list[tuple[str, str]]:
    """Each text that changes, before and after."""
    pairs = zip(texts_of(change.newest), change.texts, strict=True)
    return [(before, after) for before, after in pairs if before != after]


@evaluator_required
def missing(request: HttpRequest, name: str) -> HttpResponse:
    """Entities without a readable label; ?as=tsv all of them as a file."""
    pool = _pool(name)
    rows = missing_labels(pool)
    if request.GET.get("as") == "tsv":
        lines = "".join(f"{row.key}\t{row.triples}\n" for row in rows)
        return _tsv(lines, f"{pool.name}-missing-labels.tsv")
    context = {"pool": pool, "rows": rows[:SHOWN], "count": len(rows)}
    return render(request, "annotation/questions/labels.html", context)
