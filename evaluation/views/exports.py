"""Freezing qrels and taking the test set away."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from core.errors import UserError
from core.jobs.lifecycle import live_workers
from core.people.permissions import can_manage
from core.views.access import evaluator_required
from core.views.ranged_downloads import ranged_file
from evaluation.enums import EvaluationJob, QrelsOrigin
from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Export, Qrels
from evaluation.overview.pool_report import pool_report
from evaluation.test_sets.content import ExportOptions
from evaluation.test_sets.trec import trec_lists
from evaluation.test_sets.zip_file import archive_name, archive_of, options_of, request_export
from pooling.models import Pool
from pooling.runs.trec_write import pieces

TREC_FILES = (
    ("topics.tsv", "the questions of all seeds and pooled triples"),
    ("pool.txt", "what is pooled, all -1"),
    ("qrels.txt", "1 positive, 0 negative or assumed, -1 unjudged"),
)


class FreezeForm(forms.Form):
    name = forms.SlugField(max_length=80, label="Name: letters, digits, - and _, used once and for all")
    licence = forms.CharField(
        max_length=200,
        required=False,
        label="Licence of the test set",
        help_text="As in CC-BY-4.0, or its address. It is frozen with the labels.",
    )
    citation = forms.CharField(
        max_length=2000,
        required=False,
        label="How to cite it",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="A line or BibTeX. It is frozen too.",
    )


class OptionsForm(forms.Form):
    """What an archive leaves out; the fields are named for what a person ticks."""

    without_runs = forms.BooleanField(required=False, label="without runs and their measures")
    without_evidence = forms.BooleanField(required=False, label="without links of evidence")
    positives_only = forms.BooleanField(required=False, label="positives only")
    strict = forms.BooleanField(required=False, label="strict: assumed negatives -1 in TREC qrels")

    @classmethod
    def options(cls, data: Mapping[str, Any]) -> ExportOptions:
        form = cls(data)
        form.full_clean()
        ticked = form.cleaned_data
        return ExportOptions(
            not ticked["without_runs"], not ticked["without_evidence"], ticked["positives_only"], ticked["strict"]
        )


@evaluator_required
def export(request: HttpRequest, name: str) -> HttpResponse:
    """Frozen qrels with their archives; managers freeze the labels of this moment."""
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    form = FreezeForm(request.POST or None)
    if request.method == "POST":
        if not can_manage(request.user):
            raise PermissionDenied
        if form.is_valid():
            try:
                qrels = freeze_qrels(pool, user=request.user, **form.cleaned_data)  # type: ignore[arg-type]  # signed in
            except UserError as error:
                form.add_error("name", str(error))
            else:
                messages.success(request, f"Froze qrels {qrels.name}.")
                return redirect("export", name)
    rows = _rows(pool)
    context = {
        "pool": pool,
        "form": form,
        "rows": rows,
        "options": OptionsForm(),
        "trec": TREC_FILES,
        "report": pool_report(pool),
        "no_worker": any(row["is_live"] for row in rows) and not live_workers().exists(),
    }
    return render(request, "evaluation/test_sets/export.html", context)


def _rows(pool: Pool) -> list[dict[str, Any]]:
    """Frozen qrels, each with its archives and the last job of those that are not written."""
    jobs = {job.params.get("export"): job for job in pool.jobs.filter(kind=EvaluationJob.EXPORT).order_by("pk")}
    frozen = pool.qrels.filter(origin=QrelsOrigin.FROZEN).select_related("created_by")
    rows = []
    for qrels in frozen.prefetch_related("exports"):
        archives: list[dict[str, Any]] = [
            {
                "export": export,
                "path": archive_of(export),
                "job": jobs.get(export.pk),
                "left_out": options_of(export).left_out,
            }
            for export in qrels.exports.all()
        ]
        is_live = any(one["job"] and not one["job"].is_over and not one["path"] for one in archives)
        rows.append({"qrels": qrels, "archives": archives, "is_live": is_live})
    return rows


@require_safe
@evaluator_required
def export_trec_file(request: HttpRequest, name: str, file: str) -> HttpResponseBase:
    """Topics, pool or qrels of this moment; runs are in the test set, and on the page of runs."""
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    return trec_response(pool, file)


def trec_response(pool: Pool, file: str) -> StreamingHttpResponse:
    """The download, for page and API; Http404 names the files that there are."""
    files = trec_lists(pool)
    if file not in files:
        raise Http404(f"A pool has no TREC file {file[:80]}: it has {', '.join(files)}.")
    response = StreamingHttpResponse(pieces(files[file]), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{pool.name}-{file}"'
    return response


@require_POST
@evaluator_required
def export_start(request: HttpRequest, name: str, qrels: str) -> HttpResponse:
    """Start the job that writes an archive of frozen qrels, unless it is there."""
    found = get_object_or_404(
        Qrels.objects.select_related("pool"), pool__name=name, name=qrels, origin=QrelsOrigin.FROZEN
    )
    _, job = request_export(found, OptionsForm.options(request.POST), request.user)  # type: ignore[arg-type]
    if job:  # its line in the list says how far it is, and becomes the download
        return redirect(reverse("export", args=[name]) + f"#qrels-{found.pk}")
    messages.success(request, f"The test set {found.name} with these options is written already: it is in the list.")
    return redirect("export", name)


@require_safe
@evaluator_required
def export_download(request: HttpRequest, name: str, qrels: str, number: int) -> HttpResponseBase:
    export = get_object_or_404(
        Export.objects.select_related("qrels__pool"), pk=number, qrels__name=qrels, qrels__pool__name=name
    )
    path = archive_of(export)
    if path is None:
        raise Http404(f"This archive of the test set {qrels} is not written yet.")
    return ranged_file(request, path, export.sha256, archive_name(export))
