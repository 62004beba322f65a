"""Invitations: made and revoked on the pages of people, accepted on a page of their own."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation.errors import InvitationError
from annotation.forms.people import AgreeForm, InviteForm, JoinForm, RowForm
from annotation.messages.guidelines import render_markdown
from annotation.models import Campaign, Invitation
from annotation.people import invitations as domain
from annotation.people import mail
from annotation.people.consent import fingerprint
from annotation.permissions import has_consented
from annotation.views.find_campaign import link_to
from core.errors import UserError

_BACKEND = "django.contrib.auth.backends.ModelBackend"


class Shown(NamedTuple):
    """A link that is shown this once."""

    url: str
    email: str
    sent: bool


def act_on_invitations(
    request: HttpRequest, campaign: Campaign | None, page: str, *args: str
) -> HttpResponse | dict[str, Any]:
    """Make or revoke an invitation if that is asked for: where to go, or what the page shows of it."""
    site, act = campaign is None, request.POST.get("act")
    form = InviteForm(site=site, sends=settings.EMAIL_IS_SET)
    if request.method != "POST" or act not in ("invite", "revoke"):
        if request.method == "POST" and site:
            raise Http404
        return {"invite_form": form}
    by: User = request.user  # type: ignore[assignment]  # signed in
    if act == "revoke":
        _revoke(request, campaign, by)
        return redirect(page, *args)
    form = InviteForm(request.POST, site=site, sends=settings.EMAIL_IS_SET)
    if not form.is_valid():
        return {"invite_form": form}
    asked = form.cleaned_data
    made, token = domain.invite(asked["role"], campaign, email=asked["email"], days=asked["days"], by=by)
    url = link_to(request, reverse("invitation", args=[token]))
    sent = mail.send(made.email, "annotation/people/invitation_mail.txt", {"url": url, "invitation": made})
    return {"invite_form": InviteForm(site=site, sends=settings.EMAIL_IS_SET), "invited": Shown(url, made.email, sent)}


def _revoke(request: HttpRequest, campaign: Campaign | None, by: User) -> None:
    form = RowForm(request.POST)
    if not form.is_valid():
        raise Http404
    found = get_object_or_404(Invitation, pk=form.cleaned_data["row"], campaign=campaign)
    try:
        domain.revoke(found, by=by)
        messages.success(request, "The invitation is revoked: its link is refused from now on.")
    except InvitationError as error:
        messages.error(request, str(error))


@login_not_required
@sensitive_post_parameters("password", "again")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Accept an invitation, with a new account or with the one that is signed in."""
    response = _invitation(request, token)
    # The address is a secret until it is used: no page learns its path. Not "no-referrer": with that a browser
    # sends the form with "Origin: null", which the CSRF check refuses.
    response["Referrer-Policy"] = "strict-origin"
    response["Cache-Control"] = "no-store"
    return response


def _invitation(request: HttpRequest, token: str) -> HttpResponse:
    found = domain.find_invitation(token)
    if found is None:
        return _gone(
            request, "There is no such invitation. Check that you have the whole link, or ask for a new one.", 404
        )
    if why := domain.refusal(found):
        return _gone(request, why)
    person = request.user if request.user.is_authenticated else None
    posted = request.POST if request.method == "POST" else None
    join = None if person else JoinForm(posted, initial={"email": found.email})
    agree = _agree_form(found, person, posted)
    refused = ""
    valid = [form.is_valid() for form in (join, agree) if form is not None]  # all say what is wrong with them
    if posted is not None and all(valid):
        try:
            return _accepted(request, found, person, join, agree is not None)
        except InvitationError as error:  # somebody was faster
            return _gone(request, str(error))
        except UserError as error:
            refused = str(error)
    context = {
        "invitation": found,
        "join_form": join,
        "agree_form": agree,
        "refused": refused,
        "text": render_markdown(found.campaign.personal_data) if agree and found.campaign else "",
    }
    return render(request, "annotation/people/invitation_page.html", context, status=200 if posted is None else 422)


def _gone(request: HttpRequest, why: str, status: int = 410) -> HttpResponse:
    return render(request, "annotation/people/invitation_gone.html", {"why": why}, status=status)


def _agree_form(found: Invitation, person: User | None, posted: QueryDict | None) -> AgreeForm | None:
    """Where the campaign has a text that this person has not agreed to."""
    campaign = found.campaign
    if campaign is None or not campaign.personal_data or (person and has_consented(person, campaign)):
        return None
    return AgreeForm(posted, fingerprint=fingerprint(campaign))


def _accepted(
    request: HttpRequest, found: Invitation, person: User | None, join: JoinForm | None, agreed: bool
) -> HttpResponse:
    if join is None:
        assert person is not None
        domain.accept(found, person, agreed=agreed)
    else:
        asked = join.cleaned_data
        person = domain.accept_as_new(found, asked["username"], asked["password"], email=asked["email"], agreed=agreed)
        login(request, person, backend=_BACKEND)
    where = f" of {found.campaign}" if found.campaign else ""
    messages.success(request, f"Welcome, {person.username}: you are {found.role}{where} now.")
    return redirect("home")
