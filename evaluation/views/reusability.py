"""The button of the page Reusability that adds the candidates of a system to the pool."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from core.errors import UserError
from core.models import Job
from core.views.access import manager_required
from core.views.acts import or_message
from core.views.requests import SignedInRequest
from pooling.pools.growth import extend_pool
from pooling.views.find import find_pool


@require_POST
@manager_required
def extend(request: SignedInRequest, name: str) -> HttpResponse:
    """Start the job that adds the candidates of one system, and show its page."""
    pool, system = find_pool(name), request.POST.get("system", "").strip()

    def start() -> Job:
        if not system:
            raise UserError("No system was named: use the button under the table.")
        return extend_pool(pool, systems=[system], user=request.user)

    if (job := or_message(request, start)) is None:
        return redirect("analysis", name, "reusability")
    messages.success(request, f"The triples of {system} are being added to pool {pool.name}.")
    return redirect("job", job.pk)
