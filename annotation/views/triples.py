"""The items of a campaign for its manager: a searchable list, and one item with its whole history."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from annotation.campaigns.items import find_items, history, item_rows
from annotation.enums import ItemState
from annotation.forms.campaigns import ItemFilterForm, ReasonForm
from annotation.labelling.withdraw import reopen_judgement, return_item
from annotation.models import Item
from annotation.questions.templates import item_text
from annotation.views.find_campaign import campaign_page, find_campaign
from core.views.access import SignedInRequest, manager_required
from core.views.acts import do_act, posted
from core.views.pagination import page_of
from pooling.graphs.opening import open_graph


@manager_required
def triples(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    form = ItemFilterForm(campaign, request.GET)
    wanted = form.wanted()
    page = page_of(request, find_items(campaign, wanted))
    context = {"form": form, "page": page, "rows": item_rows(campaign, page), "wanted": wanted}
    return campaign_page(request, campaign, "annotation/campaigns/triple_list.html", context)


@manager_required
def triple(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    campaign = find_campaign(request, name)
    item = get_object_or_404(campaign.items.select_related("triple"), pk=pk)
    item.campaign = campaign
    forms = {act: ReasonForm(posted(request, act), auto_id=f"{act}_%s") for act in _ACTS}
    if request.method == "POST" and (told := do_act(request, _ACTS, forms, item)):
        messages.success(request, told)
        return redirect("campaign-triple", name, pk)
    context = {"item": item, "asked": item_text(item), "history": history(item), "forms": forms}
    context["relation"] = open_graph(campaign.pool.graph).relations[item.triple.relation]
    context["can_reopen"] = item.state in (ItemState.SETTLED, ItemState.UNDECIDED)
    context["can_return"] = item.state != ItemState.OPEN
    return campaign_page(request, campaign, "annotation/campaigns/triple_detail.html", context)


def _reopen(item: Item, asked: dict[str, Any], by: User) -> str:
    reopen_judgement(item, **asked, by=by)
    return "The judgement is open again: an adjudicator is asked."


def _return(item: Item, asked: dict[str, Any], by: User) -> str:
    return_item(item, **asked, by=by)
    return "The item is back in the pool: two other people are asked."


_ACTS = {"reopen": _reopen, "return": _return}
