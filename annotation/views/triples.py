"""The items of a campaign for its manager: search, and one with its whole history."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.campaigns.items import find_items, history, item_rows
from annotation.enums import ItemState
from annotation.errors import CampaignError
from annotation.forms.campaigns import ItemFilterForm, ReasonForm
from annotation.labelling.withdraw import reopen_judgement, return_item
from annotation.models import Item
from annotation.questions.templates import item_text
from annotation.views.find_campaign import find_campaign
from core.views.access import manager_required
from core.views.pagination import page_of
from pooling.graphs.imports import open_graph

_TOLD = {
    "reopen": "The judgement is open again: an adjudicator is asked.",
    "return": "The item is back in the pool: two other people are asked.",
}


@manager_required
def triples(request: HttpRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    form = ItemFilterForm(campaign, request.GET)
    wanted = form.wanted()
    page = page_of(request, find_items(campaign, wanted))
    context = {
        "pool": campaign.pool,
        "campaign": campaign,
        "form": form,
        "page": page,
        "rows": item_rows(campaign, page),
        "wanted": wanted,
    }
    return render(request, "annotation/campaigns/triple_list.html", context)


@manager_required
def triple(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    campaign = find_campaign(request, name)
    item = get_object_or_404(campaign.items.select_related("triple"), pk=pk)
    item.campaign = campaign
    act = request.POST.get("act", "") if request.method == "POST" else ""
    forms = {which: ReasonForm(request.POST if which == act else None, auto_id=f"{which}_%s") for which in _TOLD}
    if request.method == "POST":
        if act not in forms:
            raise Http404
        if forms[act].is_valid() and _done(item, act, forms[act], request.user):  # type: ignore[arg-type]  # a manager
            messages.success(request, _TOLD[act])
            return redirect("campaign-triple", name, pk)
    context = {
        "pool": campaign.pool,
        "campaign": campaign,
        "item": item,
        "asked": item_text(item),
        "relation": open_graph(campaign.pool.graph).relations[item.triple.relation],
        "history": history(item),
        "forms": forms,
        "can_reopen": item.state in (ItemState.SETTLED, ItemState.UNDECIDED),
        "can_return": item.state != ItemState.OPEN,
    }
    return render(request, "annotation/campaigns/triple_detail.html", context)


def _done(item: Item, act: str, form: ReasonForm, by: User) -> bool:
    do = reopen_judgement if act == "reopen" else return_item
    try:
        do(item, by=by, reason=form.cleaned_data["reason"])
    except CampaignError as error:
        form.add_error(None, str(error))
        return False
    return True
