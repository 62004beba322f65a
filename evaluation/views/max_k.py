"""One click on the page Max-k: runs that lack their predictive distributions are scored again."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from core.errors import UserError
from core.views.access import manager_required
from evaluation.max_k.stored_runs import score_missing
from pooling.models import Pool


@require_POST
@manager_required
def score(request: HttpRequest, name: str) -> HttpResponse:
    """Start a job for each system; the page shows how far they are."""
    pool = get_object_or_404(Pool, name=name)
    try:
        jobs = score_missing(pool, user=cast(User, request.user))
    except UserError as error:
        messages.error(request, str(error))
        return redirect("analysis", name, "max-k")
    said = f"{len(jobs)} system{'s are' if len(jobs) != 1 else ' is'} being scored" if jobs else "No run lacks anything"
    messages.success(request, f"{said}; this page shows it.")
    return redirect("analysis", name, "max-k")
