"""Quality of the labels for managers: agreement, annotators, hours. Researchers see agreement without names."""

from __future__ import annotations

from typing import cast

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET, require_safe

from annotation.models import Campaign
from annotation.quality.annotators import LAST, annotator_detail, annotators, took_part
from annotation.quality.hours import hours_csv
from annotation.quality.reports import (
    WITH_CANT_TELL,
    YES_NO,
    AgreementReport,
    PairAgreement,
    agreement_report,
    annotator_numbers,
)
from annotation.views.find_campaign import find_campaign
from core.people.permissions import can_manage
from core.views.access import evaluator_required, manager_required


@require_safe
@evaluator_required
def quality(request: HttpRequest, name: str) -> HttpResponse:
    """Agreement; ?cant_tell=category counts can't tell as an answer like the others."""
    campaign = find_campaign(request, name)
    with_cant_tell = request.GET.get("cant_tell") == "category"
    report = agreement_report(campaign, categories=WITH_CANT_TELL if with_cant_tell else YES_NO)
    context = {
        "campaign": campaign,
        "pool": campaign.pool,
        "report": report,
        "with_cant_tell": with_cant_tell,
        "pairs": _pairs(request, campaign, report),
    }
    return _private(render(request, "annotation/quality/agreement.html", context))


def _pairs(request: HttpRequest, campaign: Campaign, report: AgreementReport) -> list[tuple[str, str, PairAgreement]]:
    """Pairs by user name for managers; by number for researchers, who compare systems and not people."""
    if can_manage(request.user):
        people = {pk for pair in report.pairs for pk in (pair.one, pair.other)}
        names = dict(User.objects.filter(pk__in=people).values_list("pk", "username"))
        return [(names[pair.one], names[pair.other], pair) for pair in report.pairs]
    numbers = annotator_numbers(campaign)
    # in order of numbers also within a pair: the order of accounts would tell who is who
    rows = [
        (-pair.raw.n, min(both), max(both), pair)
        for pair in report.pairs
        for both in [(numbers[pair.one], numbers[pair.other])]
    ]
    return [(f"annotator {one}", f"annotator {other}", pair) for _, one, other, pair in sorted(rows)]


@require_safe
@manager_required
def annotator_list(request: HttpRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    context = {"campaign": campaign, "pool": campaign.pool, "rows": annotators(campaign)}
    return _private(render(request, "annotation/quality/annotators.html", context))


@require_safe
@manager_required
def annotator(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    campaign = find_campaign(request, name)
    person = get_object_or_404(User, pk=pk)
    if not took_part(campaign, person):
        raise Http404
    context = {"campaign": campaign, "pool": campaign.pool, "detail": annotator_detail(campaign, person), "last": LAST}
    return _private(render(request, "annotation/quality/annotator.html", context))


@require_GET
@manager_required
def hours(request: HttpRequest, name: str) -> HttpResponse:
    """The hours of all people as CSV."""
    campaign = find_campaign(request, name)
    text = hours_csv(campaign, by=cast(User, request.user))
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{campaign.pool.name}-hours.csv"'
    return _private(response)


def _private(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response
