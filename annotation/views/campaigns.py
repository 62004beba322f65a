"""The people side of a pool for its manager: how far the labels are, what is to do, under which rules."""

from __future__ import annotations

from typing import NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.campaigns.opening import open_campaign
from annotation.campaigns.overview import Outlook, Overview, outlook, overview
from annotation.campaigns.rules import set_rules, set_state
from annotation.enums import CampaignState
from annotation.forms.campaigns import RulesForm, StateForm
from annotation.forms.release import RELEASE_IN_BROWSER, OpenForm
from annotation.models import Campaign
from annotation.release.next_batch import stop_reason
from annotation.release.settings import DEFAULT_ORDER
from annotation.views.find_campaign import find_campaign
from core.errors import UserError
from core.people.permissions import can_manage
from core.views.access import evaluator_required, manager_required
from pooling.enums import FilterReason
from pooling.models import Pool
from pooling.orders import ORDERS

RULES = ("evidence_rule", "lease_minutes", "undo_minutes", "gold_percent", "contact")
_TOLD = {
    CampaignState.OPEN: "The campaign is open: questions are given out.",
    CampaignState.PAUSED: "The campaign is paused: no new questions are given out.",
    CampaignState.CLOSED: "The campaign is closed: its labels stay as they are.",
}


class Step(NamedTuple):
    """What a manager does next."""

    text: str
    label: str = ""
    url: str = ""
    is_warning: bool = False


@evaluator_required
def campaign(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    if request.method == "POST" and not can_manage(request.user):
        raise PermissionDenied
    found = Campaign.objects.filter(pool=pool).first()
    if found is None:
        return _open(request, pool) if request.method == "POST" else _not_open(request, pool)
    found.pool = pool
    form = StateForm(pool.name, request.POST or None)
    if request.method == "POST":
        if request.POST.get("act") != "state":
            raise Http404
        if form.is_valid() and _move(request, found, form):
            return redirect("campaign", name)
    standing, people = overview(found), outlook(found)
    context = {
        "pool": pool,
        "campaign": found,
        "overview": standing,
        "outlook": people,
        "steps": _steps(found, standing, people),
        "form": form,
    }
    return render(request, "annotation/campaigns/detail.html", context)


def _not_open(request: HttpRequest, pool: Pool, form: OpenForm | None = None) -> HttpResponse:
    to_people = pool.triples.filter(reason=FilterReason.NONE).count()
    context = {
        "pool": pool,
        "to_people": to_people,
        "in_browser": to_people <= RELEASE_IN_BROWSER,
        "form": form or OpenForm(),
        "orders": ORDERS.values(),
    }
    return render(request, "annotation/campaigns/closed.html", context)


def _open(request: HttpRequest, pool: Pool) -> HttpResponse:
    # a bare request opens it in the usual way, everything at once
    form = OpenForm({"order": DEFAULT_ORDER, "batch_size": 0, "audit_percent": 0} | request.POST.dict())
    if not form.is_valid():
        return _not_open(request, pool, form)
    asked = form.cleaned_data
    try:
        open_campaign(
            pool,
            order=asked["order"],
            order_settings=asked["settings"],
            batch_size=asked["batch_size"],
            whole_questions=not asked["single"],
            audit=asked["audit_percent"] / 100,
            created_by=request.user,  # type: ignore[arg-type]  # signed in
        )
    except UserError as error:
        form.add_error(None, str(error))
        return _not_open(request, pool, form)
    messages.success(request, f"The campaign of {pool.name} is open. Add people to it.")
    return redirect("campaign", pool.name)


def _move(request: HttpRequest, campaign: Campaign, form: StateForm) -> bool:
    state = CampaignState(form.cleaned_data["state"])
    try:
        set_state(campaign, state, by=request.user)  # type: ignore[arg-type]  # a manager
    except UserError as error:
        form.add_error(None, str(error))
        return False
    messages.success(request, _TOLD[state])
    return True


def _steps(campaign: Campaign, standing: Overview, people: Outlook) -> list[Step]:
    """What is to do, what stops the work first."""
    pool = campaign.pool.name
    add = ("Add people", reverse("campaign-people", args=[pool]))
    steps = []
    if campaign.state != CampaignState.CLOSED and standing.left:
        if people.annotators < 2:
            missing = "two annotators" if not people.annotators else "another annotator"
            steps.append(Step(f"Add {missing}: each item needs labels by two people.", *add))
        elif people.stuck:
            steps.append(
                Step(
                    f"{_items(people.stuck)} cannot be finished: everybody here has labelled "
                    f"{'it' if people.stuck == 1 else 'them'}, or sent it back. Add an annotator.",
                    *add,
                    True,
                )
            )
    if campaign.state != CampaignState.CLOSED and standing.disputed:
        if not people.adjudicators:
            steps.append(Step(f"{_disputes(standing.disputed)} for an adjudicator, and there is none.", *add))
        elif people.stuck_disputes:
            steps.append(
                Step(
                    f"{_disputes(people.stuck_disputes)} in vain: every adjudicator has labelled "
                    f"{'it' if people.stuck_disputes == 1 else 'them'}. Add an adjudicator.",
                    *add,
                    True,
                )
            )
    if standing.reports:
        text = (
            "1 report waits for an answer."
            if standing.reports == 1
            else f"{standing.reports:,} reports wait for an answer."
        )
        steps.append(Step(text, "Answer reports", reverse("inbox", args=[pool])))
    if standing.unreleased and not standing.left:
        reason = stop_reason(campaign)
        text = f"All that is released is judged or in hand; {standing.unreleased:,} triples are not released yet."
        steps.append(Step(f"{text} {reason}".strip(), "See the order", reverse("campaign-order", args=[pool])))
    elif not standing.left and not standing.disputed:
        steps.append(Step("All items are judged.", "See the evaluation", reverse("evaluation", args=[pool])))
    return steps


def _items(n: int) -> str:
    return "1 item" if n == 1 else f"{n:,} items"


def _disputes(n: int) -> str:
    return "1 dispute waits" if n == 1 else f"{n:,} disputes wait"


@manager_required
def rules(request: HttpRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    initial = {rule: getattr(campaign, rule) for rule in RULES}
    form = RulesForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            changed = set_rules(campaign, **form.cleaned_data, by=request.user)  # type: ignore[arg-type]
        except UserError as error:
            form.add_error(None, str(error))
        else:
            told = f"Saved: {', '.join(changed)}." if changed else "Nothing was different."
            messages.success(request, told)
            return redirect("campaign-rules", name)
    context = {"pool": campaign.pool, "campaign": campaign, "form": form}
    return render(request, "annotation/campaigns/rules.html", context)
