"""Quality of the labels: agreement, without names for researchers; annotators and their hours for managers."""

from django.contrib.auth.models import User
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
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
from annotation.views.find_campaign import campaign_page, find_campaign
from core.people.roles import can_manage
from core.views.access import SignedInRequest, evaluator_required, manager_required, no_store
from core.views.files import text_response


@require_safe
@evaluator_required
def quality(request: SignedInRequest, name: str) -> HttpResponse:
    """Show the agreement; ?cant_tell=category counts can't tell as an answer like the others."""
    campaign = find_campaign(request, name)
    with_cant_tell = request.GET.get("cant_tell") == "category"
    report = agreement_report(campaign, categories=WITH_CANT_TELL if with_cant_tell else YES_NO)
    pairs, template = _pairs(request.user, campaign, report), "annotation/quality/agreement.html"
    return no_store(
        campaign_page(request, campaign, template, report=report, with_cant_tell=with_cant_tell, pairs=pairs)
    )


def _pairs(person: User, campaign: Campaign, report: AgreementReport) -> list[tuple[str, str, PairAgreement]]:
    """Return pairs by user name for managers, by number for researchers, who compare systems and not people."""
    if can_manage(person):
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
def annotator_list(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    template = "annotation/quality/annotators.html"
    return no_store(campaign_page(request, campaign, template, rows=annotators(campaign)))


@require_safe
@manager_required
def annotator(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    campaign = find_campaign(request, name)
    person = get_object_or_404(User, pk=pk)
    if not took_part(campaign, person):
        raise Http404
    detail, template = annotator_detail(campaign, person), "annotation/quality/annotator.html"
    return no_store(campaign_page(request, campaign, template, detail=detail, last=LAST))


@require_GET
@manager_required
def hours(request: SignedInRequest, name: str) -> HttpResponse:
    """Send the hours of all people as CSV."""
    campaign = find_campaign(request, name)
    return no_store(text_response(hours_csv(campaign, by=request.user), f"{campaign.pool.name}-hours.csv"))
