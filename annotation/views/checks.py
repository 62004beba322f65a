"""Gold items and re-check samples of a campaign, for managers."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect

from annotation.forms.campaigns import GoldDrawForm, GoldFileForm, GoldStateForm, RecheckForm
from annotation.models import Campaign
from annotation.quality.checks import draw_recheck, gold_from_file, gold_from_pool, set_gold_active
from annotation.quality.reports import gold_rows, recheck_report, recheck_supply
from annotation.views import told
from annotation.views.find_campaign import campaign_page, find_campaign
from core.errors import UserError
from core.views.access import SignedInRequest, manager_required
from core.views.acts import Handler, do_act, posted
from core.views.files import kept_file
from core.views.pagination import page_of


@manager_required
def checks(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    asks_preview = request.method == "GET" and "person" in request.GET
    draw = GoldDrawForm(posted(request, "draw"), initial={"seed": campaign.golds.count()})
    file = GoldFileForm(data := posted(request, "file"), request.FILES if data is not None else None)
    sample = RecheckForm(campaign, request.GET if asks_preview else posted(request, "recheck"))
    switch = GoldStateForm(campaign, posted(request, "gold"))
    forms = {"draw": draw, "file": file, "recheck": sample}
    if request.method == "POST" and (done := do_act(request, _ACTS, forms, campaign, {"gold": switch})):
        messages.success(request, done)
        return redirect("checks", name)
    context: dict[str, Any] = {"draw": draw, "file": file, "sample": sample, "samples": recheck_report(campaign)}
    if asks_preview and sample.is_valid():
        available = recheck_supply(campaign, sample.cleaned_data["person"])
        context |= {"available": available, "to_draw": min(sample.cleaned_data["size"], available.total)}
    page = page_of(request, campaign.golds.order_by("pk"))
    percent, num_active = campaign.gold_percent, campaign.golds.filter(is_active=True).count()
    context |= {"page": page, "rows": gold_rows(campaign, page), "num_active": num_active}
    if percent:
        context |= {"every": 100 / percent, "last_for": 100 * num_active // percent}
    return campaign_page(request, campaign, "annotation/quality/check_list.html", context)


def _recheck(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    return told.recheck_drawn(asked["person"], draw_recheck(campaign, **asked, by=by))


def _file(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    try:
        with kept_file(asked["file"], "upload.tsv") as path:
            assert path is not None  # the form requires a file
            return told.gold_added(gold_from_file(campaign, path, by=by))
    except UserError as error:
        raise ValidationError({"file": str(error).splitlines()}) from error


def _switch(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    set_gold_active(campaign, [asked["gold"].pk], asked["active"], by=by)
    return told.GOLD_GIVEN_OUT if asked["active"] else told.GOLD_TAKEN_OUT


_ACTS: dict[str, Handler[str]] = {
    "draw": lambda campaign, asked, by: told.gold_added(gold_from_pool(campaign, **asked, by=by)),
    "file": _file,
    "recheck": _recheck,
    "gold": _switch,
}
