"""The pages that upload the files of a graph, show what was read, and import it after a manager has confirmed it."""

from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from core.models import Job
from core.views.access import SignedInRequest, manager_required, no_store
from core.views.acts import attempt, posted
from pooling.forms.graph_import import BundledGraphForm, GraphFilesForm, GraphNameForm, LayoutForm
from pooling.graphs.bundled import bundled_source
from pooling.graphs.imports import import_graph
from pooling.graphs.source_data import GraphError
from pooling.layouts.layout import LayoutOptions
from pooling.layouts.preview import Preview, preview_of
from pooling.layouts.uploads import Upload, find_upload, import_upload, keep_upload, read_upload
from pooling.models import Graph

IMPORTED = "Imported {}."


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: SignedInRequest) -> HttpResponse:
    """Ask for the files; they are kept aside, and nothing is imported yet. Or import a graph that comes with us."""
    bundled = BundledGraphForm(posted(request, "bundled"))
    if graph := attempt(bundled, partial(_import_bundled, request), "bundled_name"):
        return _after(request, graph)
    form = GraphFilesForm(*() if bundled.is_bound else (posted(request), request.FILES or None))
    if kept := attempt(form, lambda asked: keep_upload(asked["sent"], request.user), "sent"):
        return redirect("graph-import-confirm", kept.token)
    context = {"form": form, "bundled": bundled}
    status = 422 if form.errors or bundled.errors else 200
    return render(request, "pooling/graphs/upload.html", context, status=status)


def _import_bundled(request: SignedInRequest, asked: dict[str, Any]) -> Graph:
    source, options = bundled_source(asked["bundled"])
    return import_graph(asked["bundled_name"], source, options=options, created_by=request.user)


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def confirm(request: SignedInRequest, token: UUID) -> HttpResponse:
    """Show what was read with the options of the address; POST imports just that."""
    kept = find_upload(token, request.user)
    if kept is None:
        raise Http404("These files are not kept any more.")
    layout = LayoutForm(request.GET if request.GET else None)
    options = layout.options() if layout.is_valid() else LayoutOptions()
    named = GraphNameForm(posted(request), initial={"name": kept.suggested_name})
    act = partial(_import, kept, options, request)
    if (layout.is_valid() or not layout.is_bound) and (done := attempt(named, act)):
        return _after(request, done)
    preview, refusal = _preview(kept, layout, options)
    context = {
        "upload": kept,
        "layout": layout,
        "named": named,
        "preview": preview,
        "refusal": refusal,
        "here": f"{reverse('graph-import-confirm', args=[token])}{_query(request)}",
    }
    response = render(request, "pooling/graphs/confirm.html", context, status=422 if named.errors else 200)
    return no_store(response)


def _preview(kept: Upload, layout: LayoutForm, options: LayoutOptions) -> tuple[Preview | None, str]:
    """Return what was read, or the reason why not."""
    if layout.errors:
        return None, ""
    try:
        shown = preview_of(read_upload(kept, options))
    except GraphError as error:
        return None, layout.in_words(str(error))
    return shown._replace(warnings=[layout.in_words(warning) for warning in shown.warnings]), ""


def _import(kept: Upload, options: LayoutOptions, request: SignedInRequest, asked: dict[str, Any]) -> Graph | Job:
    return import_upload(kept, asked["name"], options, asked["unseen"], request.user)


def _after(request: HttpRequest, done: Graph | Job) -> HttpResponse:
    """Go to the graph, or to the job that imports it."""
    if isinstance(done, Job):
        return redirect("job", done.pk)
    messages.success(request, IMPORTED.format(done.name))
    return redirect("graph", done.name)


def _query(request: HttpRequest) -> str:
    return f"?{urlencode(request.GET, doseq=True)}" if request.GET else ""
