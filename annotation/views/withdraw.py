"""Withdraw the labels of one person, after a preview of what follows."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from annotation.campaigns.items import people_who_answered
from annotation.forms.campaigns import WithdrawForm
from annotation.labelling.withdraw import preview_withdrawal, withdraw_labels
from annotation.views import told
from annotation.views.find_campaign import campaign_page, find_campaign
from core.views.access import SignedInRequest, manager_required
from core.views.acts import posted


@manager_required
def withdraw(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    campaign = find_campaign(request, name)
    person = get_object_or_404(people_who_answered(campaign), pk=pk)
    form = WithdrawForm(person.username, posted(request))
    if form.is_valid():
        done = withdraw_labels(campaign, person, by=request.user, reason=form.cleaned_data["reason"])
        messages.success(request, told.labels_withdrawn(person, done))
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
