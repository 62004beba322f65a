"""The page that imports a pool made elsewhere."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from core.views.access import SignedInRequest, manager_required
from core.views.acts import attempt, posted
from core.views.files import kept_file
from pooling.forms.pools import ImportPoolForm
from pooling.models import Graph, Pool
from pooling.pools.build import import_pool

IMPORTED = "Imported {}: {:,} pooled triples."
LEFT_OUT = " {:,} lines were left out; the page Pool lists them."


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: SignedInRequest) -> HttpResponse:
    form = ImportPoolForm(posted(request), request.FILES or None)
    if pool := attempt(form, lambda asked: _import(request, asked)):
        left_out = sum(int(entry["count"]) for entry in pool.report)
        told = IMPORTED.format(pool.name, pool.triples.count())
        messages.success(request, told + (LEFT_OUT.format(left_out) if left_out else ""))
        return redirect("pool", pool.name)
    context = {"form": form, "graphs": Graph.objects.filter(archived=False).exists()}
    return render(request, "pooling/pools/import.html", context, status=422 if form.errors else 200)


def _import(request: SignedInRequest, asked: dict[str, Any]) -> Pool:
    with kept_file(asked["file"]) as file, kept_file(asked["seeds_file"]) as seeds:
        assert file is not None and seeds is not None
        named = {name: asked[name] for name in ("name", "filters")}
        return import_pool(asked["graph"], file=file, seeds_file=seeds, user=request.user, **named)
