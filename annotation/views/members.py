"""The people of a campaign for its manager: members, invitations, and the text that they agree to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.forms.people import MemberForm, PersonalDataForm, PersonForm
from annotation.messages.guidelines import render_markdown
from annotation.models import Campaign
from annotation.people.accounts import add_person, missing_people, take_role
from annotation.people.consent import set_personal_data
from annotation.people.invitations import open_invitations
from annotation.people.members import members_of
from annotation.views.find_campaign import no_store
from annotation.views.invitations import act_on_invitations
from core.errors import UserError
from core.views.access import manager_required
from core.views.pagination import page_of


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def campaign_people(request: HttpRequest, name: str) -> HttpResponse:
    campaign = get_object_or_404(Campaign.objects.select_related("pool__graph"), pool__name=name)
    done = act_on_invitations(request, campaign, "campaign-people", name)
    if isinstance(done, HttpResponse):
        return done
    if request.method == "POST" and request.POST.get("act") not in ("invite", "revoke"):
        told = _act(request, campaign)
        if isinstance(told, HttpResponse):
            return told
        done |= told
    members = members_of(campaign)
    context = {
        "pool": campaign.pool,
        "campaign": campaign,
        "page": page_of(request, members),
        "missing": missing_people(role for one in members if one.person.is_active for role in one.roles),
        "invitations": open_invitations(campaign),
        "sends": settings.EMAIL_IS_SET,
        "person_form": PersonForm(),
        "text_form": PersonalDataForm(initial={"text": campaign.personal_data}),
        "text": render_markdown(campaign.personal_data),
        "agreed": sum(member.consented_at is not None for member in members if member.roles),
        "num_members": sum(bool(member.roles) for member in members),
        **done,
    }
    return no_store(render(request, "annotation/people/member_list.html", context))


def _act(request: HttpRequest, campaign: Campaign) -> HttpResponse | dict[str, Any]:
    """Where to go, or what the page shows: a form to correct, or the password of a new account, this once."""
    act = request.POST.get("act", "")
    if act not in _ACTS:
        raise Http404
    make_form, do = _ACTS[act]
    form = make_form(request.POST)
    if form.is_valid():
        try:
            told = do(campaign, form.cleaned_data, request.user)  # type: ignore[arg-type]  # signed in
        except UserError as error:
            form.add_error(None, str(error))
        else:
            if isinstance(told, dict):
                return told
            messages.success(request, told)
            return redirect("campaign-people", campaign.pool.name)
    if act == "take":  # its form is a button: there is nothing to correct
        messages.error(request, " ".join(map(str, form.non_field_errors())) or "There is no such role to take away.")
        return redirect("campaign-people", campaign.pool.name)
    return {f"{act}_form": form}


def _add(campaign: Campaign, asked: dict[str, Any], by: User) -> dict[str, str] | str:
    person, password = add_person(asked["username"], asked["role"], campaign, by=by)
    if password is not None:
        return {"new_name": person.username, "new_password": password}
    return f"{person.username} is {asked['role']} now."


def _take(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    person = User.objects.filter(pk=asked["person"]).first()
    if person is None or not take_role(person, asked["role"], campaign, by=by):
        return "That role was gone already."
    return f"{person.username} is no longer {asked['role']}. Questions in their hands went back; their labels stay."


def _text(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    people = set_personal_data(campaign, asked["text"], by=by)
    if not people:
        return "The text is saved."
    return f"The text is saved. {people} {'person is' if people == 1 else 'people are'} asked again before they go on."


_Act = Callable[[Campaign, dict[str, Any], User], dict[str, str] | str]
_ACTS: dict[str, tuple[type[forms.Form], _Act]] = {
    "person": (PersonForm, _add),
    "take": (MemberForm, _take),
    "text": (PersonalDataForm, _text),
}
