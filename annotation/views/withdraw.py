"""Withdraw the labels of one person, after a preview of what follows."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from annotation.campaigns.items import people_who_answered
from annotation.forms.campaigns import WithdrawForm
from annotation.labelling.withdraw import Withdrawal, preview_withdrawal, withdraw_labels
from annotation.views.find_campaign import campaign_page, find_campaign
from core.views.access import manager_required
from core.views.acts import posted
from core.views.requests import SignedInRequest


@manager_required
def withdraw(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    campaign = find_campaign(request, name)
    person = get_object_or_404(people_who_answered(campaign), pk=pk)
    form = WithdrawForm(person.username, posted(request))
    if form.is_valid():
        done = withdraw_labels(campaign, person, by=request.user, reason=form.cleaned_data["reason"])
        messages.success(request, _told(person.username, done))
        return redirect("withdraw", name, pk)
    return campaign_page(
        request,
        campaign,
        "annotation/labelling/withdraw_confirm.html",
        person=person,
        form=form,
        preview=preview_withdrawal(campaign, person),
        is_member=campaign.members.filter(person=person).exists(),
    )


def _told(name: str, done: Withdrawal) -> str:
    labels = "1 label" if done.labels == 1 else f"{done.labels:,} labels"
    return (
        f"{labels} of {name} taken back. To be labelled again: {done.reopened:,}; to be adjudicated again: "
        f"{done.to_adjudicate:,}. Judgements that are open until then: {done.judgements:,} "
        f"({done.positive:,} positive, {done.negative:,} negative)."
    )
