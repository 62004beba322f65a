"""Freezing qrels and taking the test set away."""

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from evaluation.domain.archive import archive_of
from evaluation.domain.qrels import freeze_qrels
from evaluation.domain.report import pool_report
from evaluation.domain.trec import trec_lists
from evaluation.enums import QrelsOrigin
from evaluation.models import Qrels
from pooling.domain.job import start_job
from pooling.domain.trec import encoded
from pooling.enums import JobKind, JobState
from pooling.errors import UserError
from pooling.models import Pool
from pooling.permissions import can_manage, evaluator_required

TREC_FILES = (
    ("topics.tsv", "the questions of all seeds and pooled triples"),
    ("pool.txt", "what is pooled, all -1"),
    ("qrels.txt", "1 positive, 0 negative or assumed, -1 unjudged"),
)


class FreezeForm(forms.Form):
    name = forms.SlugField(max_length=80, label="Name: letters, digits, - and _, used once and for all")


@evaluator_required
def export(request: HttpRequest, name: str) -> HttpResponse:
    """Frozen qrels with their downloads; managers freeze the labels of this moment."""
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    form = FreezeForm(request.POST or None)
    if request.method == "POST":
        if not can_manage(request.user):
            raise PermissionDenied
        if form.is_valid():
            try:
                qrels = freeze_qrels(pool, form.cleaned_data["name"], request.user)  # type: ignore[arg-type]  # signed in
            except UserError as error:
                form.add_error("name", str(error))
            else:
                messages.success(request, f"Froze qrels {qrels.name}.")
                return redirect("export", name)
    jobs = {
        job.params["qrels"]: job
        for job in pool.jobs.filter(kind=JobKind.EXPORT, state__in=[JobState.QUEUED, JobState.RUNNING])
    }
    rows = [
        {"qrels": qrels, "job": jobs.get(qrels.name), "archive": archive_of(qrels)}
        for qrels in pool.qrels.filter(origin=QrelsOrigin.FROZEN).select_related("created_by")
    ]
    context = {
        "pool": pool,
        "form": form,
        "rows": rows,
        "trec": TREC_FILES,
        "report": pool_report(pool),
        "working": bool(jobs),
    }
    return render(request, "evaluation/export.html", context)


@require_safe
@evaluator_required
def export_trec_file(request: HttpRequest, name: str, file: str) -> HttpResponseBase:
    """Topics, pool or qrels of this moment; runs are in the test set, and on the page of runs."""
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    files = trec_lists(pool)
    if file not in files:
        raise Http404(f"A pool has no TREC file {file[:80]}: it has {', '.join(files)}.")
    response = StreamingHttpResponse(encoded(files[file], gz=False), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}-{file}"'
    return response


@require_POST
@evaluator_required
def export_start(request: HttpRequest, name: str, qrels: str) -> HttpResponse:
    """Start the job that writes the archive of frozen qrels."""
    found = get_object_or_404(Qrels, pool__name=name, name=qrels, origin=QrelsOrigin.FROZEN)
    start_job(JobKind.EXPORT, pool=found.pool, params={"qrels": found.name}, user=request.user)  # type: ignore[arg-type]
    messages.success(request, f"The test set {found.name} is being written; its download appears here.")
    return redirect("export", name)


@evaluator_required
def export_download(request: HttpRequest, name: str, qrels: str) -> HttpResponseBase:
    found = get_object_or_404(Qrels, pool__name=name, name=qrels)
    path = archive_of(found)
    if path is None:
        raise Http404(f"The test set {qrels} is not written yet.")
    return FileResponse(path.open("rb"), as_attachment=True, filename=f"{name}-{qrels}.zip")
