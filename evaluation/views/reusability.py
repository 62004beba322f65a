"""One click on the page Reusability: what a system would have brought to the pool is added to it."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from core.errors import UserError
from core.views.access import manager_required
from pooling.models import Pool
from pooling.pools.growth import extend_pool


@require_POST
@manager_required
def extend(request: HttpRequest, name: str) -> HttpResponse:
    """Start the job that adds the candidates of one system; its page shows how far it is."""
    pool = get_object_or_404(Pool, name=name)
    system = request.POST.get("system", "").strip()
    try:
        if not system:
            raise UserError("No system was named: use the button under the table.")
        job = extend_pool(pool, systems=[system], user=cast(User, request.user))
    except UserError as error:
        messages.error(request, str(error))
        return redirect("analysis", name, "reusability")
    messages.success(request, f"The triples of {system} are being added to pool {pool.name}.")
    return redirect("job", job.pk)
