"""Gold items and re-check samples of a campaign: managers only."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation.forms.campaigns import GoldDrawForm, GoldFileForm, GoldStateForm, RecheckForm
from annotation.models import Campaign
from annotation.quality.check_list import RecheckSupply, gold_rows, recheck_supply
from annotation.quality.checks import draw_recheck, gold_from_file, gold_from_pool, set_gold_active
from annotation.quality.reports import recheck_report
from annotation.views.find_campaign import find_campaign
from core.errors import UserError
from core.views.access import manager_required
from core.views.pagination import page_of


@manager_required
def checks(request: HttpRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    act = request.POST.get("act", "") if request.method == "POST" else ""
    num_gold = campaign.golds.count()
    draw = GoldDrawForm(request.POST if act == "draw" else None, initial={"seed": num_gold})
    file = GoldFileForm(request.POST, request.FILES) if act == "file" else GoldFileForm()
    asks_preview = request.method == "GET" and "person" in request.GET
    sample = RecheckForm(campaign, request.POST if act == "recheck" else request.GET if asks_preview else None)
    if request.method == "POST":
        told = _act(request, campaign, act, {"draw": draw, "file": file, "recheck": sample})
        if told:
            messages.success(request, told)
            return redirect("checks", name)
    available = _preview(campaign, sample) if asks_preview else None
    page = page_of(request, campaign.golds.order_by("pk"))
    num_active = campaign.golds.filter(is_active=True).count()
    context = {
        "pool": campaign.pool,
        "campaign": campaign,
        "page": page,
        "rows": gold_rows(campaign, page),
        "num_active": num_active,
        "every": 100 / campaign.gold_percent if campaign.gold_percent else None,
        "last_for": 100 * num_active // campaign.gold_percent if campaign.gold_percent else None,
        "draw": draw,
        "file": file,
        "sample": sample,
        "available": available,
        "to_draw": min(sample.cleaned_data["size"], available.total) if available else 0,
        "samples": recheck_report(campaign),
    }
    return render(request, "annotation/quality/check_list.html", context)


def _preview(campaign: Campaign, sample: RecheckForm) -> RecheckSupply | None:
    return recheck_supply(campaign, sample.cleaned_data["person"]) if sample.is_valid() else None


def _act(request: HttpRequest, campaign: Campaign, act: str, forms: dict[str, Any]) -> str:
    """What was done, for the person; empty when a form says why nothing was."""
    by: User = request.user  # type: ignore[assignment]  # a manager
    if act == "gold":
        return _set_active(request, campaign, by)
    if act not in forms:
        raise Http404
    form = forms[act]
    if not form.is_valid():
        return ""
    asked = form.cleaned_data
    try:
        if act == "recheck":
            drawn = draw_recheck(campaign, asked["person"], asked["size"], seed=asked["seed"], by=by)
            return f"{asked['person'].username} gets {_count(drawn, 'judgement')} again, among other questions."
        from_pool = act == "draw"
        added = gold_from_pool(campaign, **asked, by=by) if from_pool else _from_upload(campaign, asked["file"], by)
    except UserError as error:
        form.add_error("file" if act == "file" else None, str(error).splitlines())
        return ""
    known = f"; {added.known} {'was one' if added.known == 1 else 'were gold items'} before" if added.known else ""
    return f"{_count(added.added, 'gold item')} added{known}."


def _from_upload(campaign: Campaign, file: UploadedFile, by: User) -> Any:
    """Through a file of our own name: nothing that was typed becomes part of a path."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upload.tsv"
        path.write_bytes(file.read())
        return gold_from_file(campaign, path, by=by)


def _set_active(request: HttpRequest, campaign: Campaign, by: User) -> str:
    form = GoldStateForm(request.POST)
    if not form.is_valid() or not campaign.golds.filter(pk=form.cleaned_data["gold"]).exists():
        raise Http404
    active = form.cleaned_data["active"]
    set_gold_active(campaign, [form.cleaned_data["gold"]], active, by=by)
    return (
        "The gold item is given out again." if active else "The gold item is no longer given out. Answers to it stay."
    )


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
