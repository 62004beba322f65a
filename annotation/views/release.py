"""The order of judging for managers: which triples people get next, in what batches, and when that stops."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import redirect

from annotation.enums import AnnotationJob
from annotation.forms.release import AuditForm, OrderForm, StoppingForm
from annotation.models import Campaign
from annotation.release.audit_sample import audited, draw_audit
from annotation.release.in_words import what_happens
from annotation.release.items import batch_rows
from annotation.release.next_batch import release_next, stop_reason, unreleased
from annotation.release.settings import set_order_or_start, set_stopping
from annotation.views import told
from annotation.views.find_campaign import campaign_page, find_campaign
from core.jobs.lifecycle import live_jobs
from core.models import Job
from core.views.access import SignedInRequest, manager_required
from core.views.acts import Handler, do_act, posted
from core.views.pagination import page_of
from pooling.enums import TO_PEOPLE
from pooling.orders import ORDERS


@manager_required
def order(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    forms: dict[str, Form] = {
        "order": OrderForm.of(campaign, posted(request, "order")),
        "stopping": StoppingForm.of(campaign, posted(request, "stopping")),
        "audit": AuditForm(posted(request, "audit")),
    }
    if request.method == "POST" and (done := do_act(request, _ACTS, forms, campaign)):
        messages.success(request, done)
        return redirect("campaign-order", name)
    left, triples = unreleased(campaign.pool).count(), campaign.pool.triples
    context: dict[str, Any] = {
        "forms": forms,
        "page": page_of(request, batch_rows(campaign)),
        "pool_size": triples.filter(reason=TO_PEOPLE).count(),
        "filtered": triples.exclude(reason=TO_PEOPLE).count(),
        "audited": audited(campaign).count(),
        "older": campaign.items.filter(batch=None).count(),
    }
    context |= {"orders": ORDERS.values(), "chosen": ORDERS.get(campaign.order)}
    context["work"] = live_jobs(Q(pool=campaign.pool, kind=AnnotationJob.RELEASE))
    context |= {"unreleased": left, "next_size": min(campaign.batch_size, left)}
    context["happens"] = what_happens(campaign)
    context |= {"stopped": stop_reason(campaign) if left else "", "is_closed": campaign.is_closed}
    status = 422 if request.method == "POST" else 200  # a form, or a message, says what was refused
    return campaign_page(request, campaign, "annotation/release/order_page.html", context, status)


def _audit(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    return told.audit_drawn(draw_audit(campaign, asked["percent"] / 100, seed=asked["seed"], by=by))


def _order(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    done = set_order_or_start(campaign, whole_questions=not asked.pop("single"), **asked, by=by)
    return told.release_started(done) if isinstance(done, Job) else told.saved(done)


_ACTS: dict[str, Handler[str]] = {
    "release": lambda campaign, _, by: told.batch_released(release_next(campaign, by=by)),
    "audit": _audit,
    "stopping": lambda campaign, asked, by: told.saved(set_stopping(campaign, **asked, by=by)),
    "order": _order,
}
