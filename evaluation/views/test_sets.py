"""The page Export of a pool with its frozen qrels, archives and TREC files, and the page that imports a test set."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from core.files.storage import presigned
from core.people.roles import Person, can_manage
from core.views.access import SignedInRequest, evaluator_required, manager_required
from core.views.acts import attempt, posted
from core.views.files import kept_file, ranged_file, stream_response
from evaluation.enums import EvaluationJob, QrelsOrigin
from evaluation.forms.test_sets import (
    EditTermsForm,
    ExportOptionsForm,
    FreezeQrelsForm,
    ImportTestSetForm,
    RestoreTestSetForm,
)
from evaluation.labels.licences import in_words, is_spdx
from evaluation.labels.qrels import STATE_NAMES, freeze_qrels, freeze_warnings
from evaluation.labels.terms import creator_lines, creators_of, edit_terms, terms_of
from evaluation.models import Export, Qrels
from evaluation.overview.counts import pool_report
from evaluation.test_sets.citation import bibtex, suggested_citation
from evaluation.test_sets.export import is_there, options_of, request_export, zip_name, zip_path
from evaluation.test_sets.imports import import_test_set
from evaluation.test_sets.restore import restore_sent
from evaluation.test_sets.trec import TREC_TYPE, pool_topics, trec_lists
from pooling.models import Graph, Pool
from pooling.runs.files import RunError
from pooling.runs.trec_write import pieces
from pooling.views.find import find_pool

TOPICS = "topics.tsv"
TREC_FILES = (
    (TOPICS, "the questions of all seeds and pooled triples"),
    ("pool.txt", "every pooled triple, each as unjudged (-1)"),
    ("qrels.txt", "judged triples of questions with an answer: 1 is positive, 0 negative or assumed negative"),
    ("qrels_infap.txt", "the same for infAP, a measure for incomplete judgements: unjudged triples too, as -1"),
)

FROZEN = "Qrels {} frozen."
EDITED = "Saved version {} of the terms. Write the test set again to have it on the card."
WRITTEN_ALREADY = "The test set {} with these options is written already: it is in the list."


@evaluator_required
def export(request: SignedInRequest, name: str) -> HttpResponse:
    """Show frozen qrels with their archives; POST freezes the current labels (managers)."""
    pool = find_pool(name)
    form = FreezeQrelsForm(posted(request))
    if request.method == "POST" and not can_manage(request.user):
        raise PermissionDenied
    if qrels := attempt(form, lambda asked: freeze_qrels(pool, user=request.user, **asked), "name"):
        messages.success(request, FROZEN.format(qrels.name))
        return redirect("export", name)
    rows = _rows(pool)
    context = {"pool": pool, "form": form, "rows": rows, "options": ExportOptionsForm(), "trec": TREC_FILES}
    report = pool_report(pool)
    now = tuple(report[state] for state in STATE_NAMES.values())
    context["newer"] = bool(rows) and _counts(rows[0]["qrels"]) != now
    context |= {"seeds": pool.seeds.count(), "report": report, "warnings": freeze_warnings(report, report["to_people"])}
    return render(request, "evaluation/test_sets/export.html", context)


def _counts(qrels: Qrels) -> tuple[int, ...]:
    return qrels.num_positive, qrels.num_negative, qrels.num_assumed_negative, qrels.num_unjudged


def _rows(pool: Pool) -> list[dict[str, Any]]:
    """Return frozen qrels, each with its archives; archives that are not written have their last job."""
    jobs = {job.params.get("export"): job for job in pool.jobs.filter(kind=EvaluationJob.EXPORT).order_by("pk")}

    def archive_row(export: Export, version: int) -> dict[str, Any]:
        there, job, is_older = is_there(export), jobs.get(export.pk), export.terms_version < version
        left_out = options_of(export).left_out
        return {"export": export, "there": there, "job": job, "left_out": left_out, "is_older": is_older}

    rows: list[dict[str, Any]] = []
    frozen = pool.qrels.filter(origin=QrelsOrigin.FROZEN).select_related("created_by")
    for qrels in frozen.prefetch_related("exports", "terms"):
        terms = qrels.last_terms
        archives = [archive_row(export, terms.version) for export in qrels.exports.all()]
        is_live = any(one["job"] and not one["job"].is_over and not one["there"] for one in archives)
        has_one = is_live or any(one["there"] for one in archives)
        of_terms = {"licence": in_words(terms.licence), "part": f"archives-{qrels.pk}"}
        rows.append({"qrels": qrels, "archives": archives, "is_live": is_live, "has_one": has_one} | of_terms)
    for row in rows[:1]:  # the one primary button: the newest qrels are written, then downloaded
        there = [one for one in row["archives"] if one["there"]]
        row["primary"] = "" if row["is_live"] else there[0] if there else "write"
    return rows


@evaluator_required
def export_terms(request: SignedInRequest, name: str, qrels: str) -> HttpResponse:
    """Show the terms of a test set and their versions; POST writes a new version (managers)."""
    pool = find_pool(name)
    found = get_object_or_404(pool.qrels.filter(origin=QrelsOrigin.FROZEN), name=qrels)
    if request.method == "POST" and not can_manage(request.user):
        raise PermissionDenied
    now = terms_of(found)
    lines = creator_lines(creators_of(now))
    initial = {"licence": now.licence, "creators": "\n".join(lines), "citation": now.citation, "url": now.url}
    form = EditTermsForm(posted(request), initial=initial)
    if terms := attempt(form, lambda asked: edit_terms(found, user=request.user, **asked)):
        messages.success(request, EDITED.format(terms.version))
        return redirect("export-terms", name, qrels)
    context = {"pool": pool, "qrels": found, "terms": now, "creators": lines, "form": form}
    context |= {"licence": in_words(now.licence), "spdx": is_spdx(now.licence)}
    context |= {"suggested": suggested_citation(found, now), "bibtex": bibtex(found, now)}
    context["versions"] = found.terms.select_related("created_by").order_by("-version")
    return render(request, "evaluation/test_sets/terms.html", context)


@require_safe
@evaluator_required
def export_trec_file(request: SignedInRequest, name: str, file: str) -> StreamingHttpResponse:
    """Send the current topics, pool or qrels; runs are in the test set, and on the page of runs."""
    pool = find_pool(name)
    files = trec_lists(pool)
    if file not in files:
        raise Http404(f"A pool has no TREC file {file[:80]}: it has {', '.join(files)}.")
    if file == TOPICS and (system := request.GET.get("lacking", "")):
        return stream_response(pieces(_lacking(pool, system, request.user)), f"{pool.name}-{system}-{file}", TREC_TYPE)
    return stream_response(pieces(files[file]), f"{pool.name}-{file}", TREC_TYPE)


def _lacking(pool: Pool, system: str, person: Person) -> Iterator[str]:
    """Return the topics that the run of a system was not asked; Http404 for an unknown system."""
    try:
        return pool_topics(pool, system, person)
    except RunError as error:
        raise Http404(str(error)) from error


@require_POST
@evaluator_required
def export_start(request: SignedInRequest, name: str, qrels: str) -> HttpResponse:
    """Start the job that writes an archive of frozen qrels, unless it is written already."""
    frozen = Qrels.objects.select_related("pool").filter(origin=QrelsOrigin.FROZEN)
    found = get_object_or_404(frozen, pool__name=name, name=qrels)
    _, job = request_export(found, ExportOptionsForm.options(request.POST), request.user)
    if job:  # its line in the list says how far it is, and becomes the download
        return redirect(reverse("export", args=[name]) + f"#qrels-{found.pk}")
    messages.success(request, WRITTEN_ALREADY.format(found.name))
    return redirect("export", name)


@require_safe
@evaluator_required
def export_download(request: HttpRequest, name: str, qrels: str, number: int) -> HttpResponseBase:
    """Send an archive, or the range of it that is asked for."""
    exports = Export.objects.select_related("qrels__pool")
    export = get_object_or_404(exports, pk=number, qrels__name=qrels, qrels__pool__name=name)
    if not is_there(export):
        raise Http404(f"This archive of the test set {qrels} is not written yet.")
    if address := presigned(export.artifact):
        return redirect(address)
    if (path := zip_path(export)) is None:
        raise Http404(f"This archive of the test set {qrels} is not there any more.")
    return ranged_file(request, path, export.sha256, zip_name(export))


IMPORTED = "Imported {}."
RESTORED = "Imported pool {} with its graph, labels and runs; its judgements are the frozen qrels {}."


@manager_required
def import_page(request: SignedInRequest) -> HttpResponse:
    sent = request.FILES or None
    back = RestoreTestSetForm(*(posted(request), sent) if "pool_name" in request.POST else ())
    if restored := attempt(back, partial(_restore, request.user), "archive"):
        messages.success(request, RESTORED.format(restored.pool.name, restored.name))
        return redirect("pool", restored.pool.name)
    form = ImportTestSetForm(*() if back.is_bound else (posted(request), sent))
    if qrels := attempt(form, partial(_import, request.user)):
        left_out = sum(int(entry["count"]) for entry in qrels.pool.report)
        known = f"{left_out:,} lines are known facts and were left out." if left_out else ""
        messages.success(request, " ".join(filter(None, [IMPORTED.format(qrels.name), known, *qrels.notes])))
        return redirect("pool", qrels.pool.name)
    context = {"form": form, "back": back, "graphs": Graph.objects.filter(archived=False).exists()}
    return render(request, "evaluation/test_sets/import.html", context)


def _restore(user: User, asked: dict[str, Any]) -> Qrels:
    return restore_sent(asked["archive"], name=asked["pool_name"], graph_name=asked["graph_name"], user=user)


def _import(user: User, asked: dict[str, Any]) -> Qrels:
    file, named = asked["file"], {name: asked[name] for name in ("name", "format", "threshold")}
    with kept_file(asked["seeds"]) as seeds:
        return import_test_set(asked["graph"], file.read(), str(file.name), seeds_file=seeds, user=user, **named)
