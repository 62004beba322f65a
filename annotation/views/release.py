"""The order of judging: which triples people get next, in what batches, and when that stops. Managers only."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation.enums import CampaignState
from annotation.forms.release import RELEASE_IN_BROWSER, AuditForm, OrderForm, StoppingForm
from annotation.models import Campaign
from annotation.release.audit_sample import audited, draw_audit
from annotation.release.batch_list import batch_rows
from annotation.release.next_batch import release_next, stop_reason, unreleased
from annotation.release.settings import set_order, set_stopping
from annotation.views.find_campaign import find_campaign
from core.errors import UserError
from core.views.access import manager_required
from core.views.pagination import page_of
from pooling.enums import FilterReason
from pooling.orders import ORDERS


@manager_required
def order(request: HttpRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    act = request.POST.get("act", "") if request.method == "POST" else ""
    initial = {"budget": campaign.budget, "target_tau": campaign.target_tau, "target_measure": campaign.target_measure}
    forms: dict[str, Any] = {
        "order": OrderForm.of(campaign, request.POST if act == "order" else None),
        "stopping": StoppingForm(request.POST if act == "stopping" else None, initial=initial),
        "audit": AuditForm(request.POST if act == "audit" else None),
    }
    if request.method == "POST":
        told = _act(request, campaign, act, forms)
        if told:
            messages.success(request, told)
            return redirect("campaign-order", name)
    left = unreleased(campaign.pool).count()
    page = page_of(request, batch_rows(campaign))
    context = {
        "pool": campaign.pool,
        "campaign": campaign,
        "forms": forms,
        "page": page,
        "orders": ORDERS.values(),
        "pool_size": campaign.pool.triples.filter(reason=FilterReason.NONE).count(),
        "chosen": ORDERS.get(campaign.order),
        "unreleased": left,
        "next_size": min(campaign.batch_size, left),
        "stopped": stop_reason(campaign) if left else "",
        "is_closed": campaign.state == CampaignState.CLOSED,
        "older": campaign.items.filter(batch=None).count(),
        "audited": audited(campaign).count(),
        "filtered": campaign.pool.triples.exclude(reason=FilterReason.NONE).count(),
    }
    status = 422 if request.method == "POST" else 200  # a form, or a message, says what was refused
    return render(request, "annotation/release/order_page.html", context, status=status)


def _act(request: HttpRequest, campaign: Campaign, act: str, forms: dict[str, Any]) -> str:
    """What was done, for the person; empty when a form says why nothing was."""
    by: User = request.user  # type: ignore[assignment]  # a manager
    if act == "release":
        return _release(request, campaign, by)
    if act not in forms:
        raise Http404
    form = forms[act]
    if not form.is_valid():
        return ""
    asked = form.cleaned_data
    try:
        if act == "audit":
            drawn = draw_audit(campaign, asked["percent"] / 100, seed=asked["seed"], by=by)
            if not drawn.added:
                return f"The sample has that many already: {_triples(drawn.total)}."
            return f"{_triples(drawn.added)} drawn, {drawn.total:,} in all. {drawn.among}"
        if act == "stopping":
            return _saved(set_stopping(campaign, **asked, by=by))
        if not asked["batch_size"] and unreleased(campaign.pool).count() > RELEASE_IN_BROWSER:
            form.add_error(
                "batch_size", f"So many are released on the server: release_batch {campaign.pool.name} --all"
            )
            return ""
        return _saved(set_order(campaign, whole_questions=not asked.pop("single"), **asked, by=by))
    except UserError as error:
        form.add_error(None, str(error))
        return ""


def _release(request: HttpRequest, campaign: Campaign, by: User) -> str:
    try:
        batch = release_next(campaign, by=by)
    except UserError as error:
        messages.error(request, str(error))
        return ""
    if batch is None:
        return "Every triple is released already."
    return f"Batch {batch.number} is released: {_triples(batch.size)}."


def _saved(changed: list[str]) -> str:
    words = ", ".join(name.replace("_", " ") for name in changed)
    return f"Saved: {words}." if changed else "Nothing was different."


def _triples(n: int) -> str:
    return "1 triple" if n == 1 else f"{n:,} triples"
