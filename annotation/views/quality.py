"""Quality of the labels: agreement; annotators, their hours, and the withdrawal of their labels."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_safe

from annotation.campaigns.items import people_who_answered
from annotation.forms.campaigns import WithdrawForm
from annotation.labelling.withdraw import preview_withdrawal, withdraw_labels
from annotation.models import Campaign
from annotation.quality.annotators import LAST, annotator_detail, annotators, took_part
from annotation.quality.hours import hours_csv
from annotation.quality.reports import WITH_CANT_TELL, YES_NO, PairAgreement, agreement_report, annotator_numbers
from annotation.views import told
from annotation.views.find_campaign import campaign_page, find_campaign
from core.people.roles import can_manage
from core.views.access import SignedInRequest, evaluator_required, manager_required, no_store
from core.views.acts import posted
from core.views.files import text_response


@require_safe
@evaluator_required
def quality(request: SignedInRequest, name: str) -> HttpResponse:
    """Show the agreement; ?cant_tell=category counts can't tell as an answer like the others."""
    campaign = find_campaign(request, name)
    with_cant_tell = request.GET.get("cant_tell") == "category"
    report = agreement_report(campaign, categories=WITH_CANT_TELL if with_cant_tell else YES_NO)
    pairs = _pairs(request.user, campaign, report.pairs)
    context = {"report": report, "with_cant_tell": with_cant_tell, "pairs": pairs}
    return no_store(campaign_page(request, campaign, "annotation/quality/agreement.html", context))


def _pairs(person: User, campaign: Campaign, pairs: list[PairAgreement]) -> list[tuple[str, str, PairAgreement]]:
    """Return pairs by user name for managers, by number for researchers, who compare systems and not people."""
    if can_manage(person):
        people = {pk for pair in pairs for pk in (pair.one, pair.other)}
        names = dict(User.objects.filter(pk__in=people).values_list("pk", "username"))
        return [(names[pair.one], names[pair.other], pair) for pair in pairs]
    numbers = annotator_numbers(campaign)
    # in order of numbers also within a pair: the order of accounts would tell who is who
    rows = [(-pair.raw.n, sorted((numbers[pair.one], numbers[pair.other])), pair) for pair in pairs]
    return [(f"annotator {one}", f"annotator {other}", pair) for _, (one, other), pair in sorted(rows)]


@require_safe
@manager_required
def annotator_list(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    return no_store(
        campaign_page(request, campaign, "annotation/quality/annotators.html", {"rows": annotators(campaign)})
    )


@require_safe
@manager_required
def annotator(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    campaign = find_campaign(request, name)
    person = get_object_or_404(User, pk=pk)
    if not took_part(campaign, person):
        raise Http404
    detail, template = annotator_detail(campaign, person), "annotation/quality/annotator.html"
    return no_store(campaign_page(request, campaign, template, {"detail": detail, "last": LAST}))


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
    form = WithdrawForm(person.username, posted(request))
    if form.is_valid():
        done = withdraw_labels(campaign, person, by=request.user, reason=form.cleaned_data["reason"])
        messages.success(request, told.labels_withdrawn(person, done))
        return redirect("withdraw", name, pk)
    context = {"person": person, "form": form, "preview": preview_withdrawal(campaign, person)}
    context["is_member"] = campaign.members.filter(person=person).exists()
    return campaign_page(request, campaign, "annotation/labelling/withdraw_confirm.html", context)
