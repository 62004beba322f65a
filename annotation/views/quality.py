"""Quality of the labels: agreement, annotators, hours, the withdrawal of labels; gold items and re-check samples."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_safe

from annotation.campaigns.items import people_who_answered
from annotation.campaigns.outlook import after_withdrawal
from annotation.campaigns.overview import pace
from annotation.forms.campaigns import GoldDrawForm, GoldFileForm, GoldStateForm, RecheckForm, TraineeForm, WithdrawForm
from annotation.labelling.training import let_through, trainees
from annotation.labelling.withdraw import preview_withdrawal, withdraw_labels
from annotation.models import Campaign
from annotation.quality.annotators import LAST, annotator_detail, annotators, took_part
from annotation.quality.checks import draw_recheck, gold_from_file, gold_from_pool, set_gold_active
from annotation.quality.hours import hours_csv
from annotation.quality.reports import (
    LEAST_ITEMS,
    WITH_CANT_TELL,
    YES_NO,
    PairAgreement,
    agreement_report,
    annotator_numbers,
    gold_rows,
    lowest,
    recheck_report,
    recheck_supply,
    surest_low,
    weakest,
)
from annotation.quality.standing_out import standing_out, worst_first
from annotation.views import told
from annotation.views.find_campaign import campaign_page, find_campaign
from core.errors import UserError
from core.people.roles import can_manage
from core.views.access import SignedInRequest, evaluator_required, manager_required, no_store
from core.views.acts import Handler, do_act, posted
from core.views.files import kept_file, text_response
from core.views.pagination import page_of


@require_safe
@evaluator_required
def quality(request: SignedInRequest, name: str) -> HttpResponse:
    """Show the agreement; ?cant_tell=category counts can't tell as an answer like the others."""
    campaign = find_campaign(request, name)
    with_cant_tell = request.GET.get("cant_tell") == "category"
    report = agreement_report(campaign, categories=WITH_CANT_TELL if with_cant_tell else YES_NO)
    pairs = _pairs(request.user, campaign, report.pairs)
    context = {"report": report, "with_cant_tell": with_cant_tell, "pairs": pairs, "least": LEAST_ITEMS}
    context |= {"lowest": lowest(report), "stands_out": weakest(report) is not None}
    return no_store(campaign_page(request, campaign, "annotation/quality/agreement.html", context))


def _pairs(person: User, campaign: Campaign, pairs: list[PairAgreement]) -> list[tuple[str, str, PairAgreement]]:
    """Return pairs by user name for managers, by number for researchers, who compare systems and not people."""
    if can_manage(person):
        people = {pk for pair in pairs for pk in (pair.one, pair.other)}
        names = dict(User.objects.filter(pk__in=people).values_list("pk", "username"))
        return [(names[pair.one], names[pair.other], pair) for pair in pairs]
    numbers = annotator_numbers(campaign)
    # in order of numbers also within a pair: the order of accounts would tell who is who
    rows = [(surest_low(pair.raw), sorted((numbers[pair.one], numbers[pair.other])), pair) for pair in pairs]
    return [(f"annotator {one}", f"annotator {other}", pair) for _, (one, other), pair in sorted(rows)]


@require_safe
@manager_required
def annotator_list(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    rows = worst_first(annotators(campaign))
    context = {"rows": rows, "out": standing_out(rows), "simulated": any(row.is_simulated for row in rows)}
    return no_store(campaign_page(request, campaign, "annotation/quality/annotators.html", context))


@require_safe
@manager_required
def annotator(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    campaign = find_campaign(request, name)
    person = get_object_or_404(User, pk=pk)
    if not took_part(campaign, person):
        raise Http404
    only = request.GET.get("labels") == "overturned"
    context = {"detail": annotator_detail(campaign, person, overturned=only), "last": LAST, "only_overturned": only}
    return no_store(campaign_page(request, campaign, "annotation/quality/annotator.html", context))


@require_GET
@manager_required
def hours(request: SignedInRequest, name: str) -> HttpResponse:
    """Send the hours of all people as CSV."""
    campaign = find_campaign(request, name)
    return no_store(text_response(hours_csv(campaign, by=request.user), f"{campaign.pool.name}-hours.csv"))


@manager_required
def withdraw(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Withdraw the labels of one person, after a preview of what follows."""
    campaign = find_campaign(request, name)
    person = get_object_or_404(people_who_answered(campaign), pk=pk)
    form = WithdrawForm(posted(request), expected=person.username)
    if form.is_valid():
        done = withdraw_labels(campaign, person, by=request.user, reason=form.cleaned_data["reason"])
        messages.success(request, told.labels_withdrawn(person, done))
        return redirect("withdraw", name, pk)
    preview, each = preview_withdrawal(campaign, person), pace(campaign)
    context = {"person": person, "form": form, "preview": preview, "after": after_withdrawal(campaign, person)}
    context["seconds"] = None if each is None else preview.reopened * each / 1000
    context["is_member"] = campaign.members.filter(person=person).exists()
    return campaign_page(request, campaign, "annotation/labelling/withdraw_confirm.html", context)


@manager_required
def checks(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    asks_preview = request.method == "GET" and "person" in request.GET
    draw = GoldDrawForm(posted(request, "draw"), initial={"seed": campaign.golds.count()})
    file = GoldFileForm(data := posted(request, "file"), request.FILES if data is not None else None)
    sample = RecheckForm(campaign, request.GET if asks_preview else posted(request, "recheck"))
    switch = GoldStateForm(campaign, posted(request, "gold"))
    through = TraineeForm(campaign, posted(request, "training"))
    forms = {"draw": draw, "file": file, "recheck": sample}
    buttons = {"gold": switch, "training": through}
    if request.method == "POST" and (done := do_act(request, _ACTS, forms, campaign, buttons)):
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
    if campaign.training_items:
        context["trainees"] = trainees(campaign)
    return campaign_page(request, campaign, "annotation/quality/check_list.html", context)


def _recheck(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    return told.recheck_drawn(asked["person"], draw_recheck(campaign, **asked, by=by))


def _file(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    try:
        # as its sender called it; a packed file, which may be far larger, is read as it is and refused
        with kept_file(asked["file"], str(asked["file"].name).removesuffix(".gz")) as path:
            assert path is not None  # the form requires a file
            return told.gold_added(gold_from_file(campaign, path, by=by))
    except UserError as error:
        raise ValidationError({"file": str(error).splitlines()}) from error


def _switch(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    set_gold_active(campaign, [asked["gold"].pk], asked["active"], by=by)
    return told.GOLD_GIVEN_OUT if asked["active"] else told.GOLD_TAKEN_OUT


def _let_through(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    let_through(campaign, asked["person"], by=by)
    return told.let_through(asked["person"])


_ACTS: dict[str, Handler[str]] = {
    "draw": lambda campaign, asked, by: told.gold_added(gold_from_pool(campaign, **asked, by=by)),
    "file": _file,
    "recheck": _recheck,
    "gold": _switch,
    "training": _let_through,
}
