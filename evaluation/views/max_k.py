"""The button of the page Max-k that scores runs again where their predictive distributions are missing."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from core.views.access import manager_required
from core.views.acts import or_message
from core.views.requests import SignedInRequest
from evaluation.max_k.stored_runs import score_missing
from pooling.views.find import find_pool


@require_POST
@manager_required
def score(request: SignedInRequest, name: str) -> HttpResponse:
    """Start a job for each system; the page shows their progress."""
    pool = find_pool(name)
    jobs = or_message(request, lambda: score_missing(pool, user=request.user))
    if jobs is not None:
        many = f"{len(jobs)} system{'s are' if len(jobs) != 1 else ' is'} being scored"
        messages.success(request, f"{many if jobs else 'No run lacks anything'}; this page shows it.")
    return redirect("analysis", name, "max-k")
