"""Invitations, made and revoked on the pages of people and accepted on their own; and consent to a campaign's text."""

from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation.errors import InvitationError
from annotation.forms.people import AgreeForm, JoinForm
from annotation.messages.guidelines import render_markdown
from annotation.models import Campaign, Invitation
from annotation.people import invitations as domain
from annotation.people.members import consent as agree
from annotation.people.members import consented_at, fingerprint
from annotation.permissions import has_consented, is_adjudicator, is_annotator
from annotation.views.find_campaign import find_campaign
from core.errors import UserError
from core.views.access import SignedInRequest, link_to, no_store
from core.views.acts import posted

REVOKED = "The invitation is revoked: its link is refused from now on."
# pages that send people to the consent and get them back; the first also gets those who came by themselves
NEXT = ("annotate", "adjudicate", "my-labels", "messages")
_BACKEND = "django.contrib.auth.backends.ModelBackend"


class SecretLink(NamedTuple):
    """A link that one person gets, and the mail that carries it to them."""

    path: str
    email: str
    mail: str  # template
    context: dict[str, Any]


def show_link(request: HttpRequest, link: SecretLink) -> dict[str, str | bool]:
    """Send the link to its person if the site sends e-mail, and return it for the page, which shows it this once."""
    url = link_to(request, link.path)
    sent = domain.send(link.email, link.mail, {"url": url, **link.context})
    return {"url": url, "email": link.email, "sent": sent}


def invite(campaign: Campaign | None, asked: dict[str, Any], by: User) -> SecretLink:
    """Make an invitation to a role of the campaign, or of the site: an act of the pages of people."""
    made, token = domain.invite(asked["role"], campaign, email=asked["email"], days=asked["days"], by=by)
    path = reverse("invitation", args=[token])
    return SecretLink(path, made.email, "annotation/people/invitation_mail.txt", {"invitation": made})


def revoke(campaign: Campaign | None, asked: dict[str, Any], by: User) -> str:
    """Revoke an invitation: an act of the pages of people."""
    domain.revoke(asked["row"], by=by)
    return REVOKED


@login_not_required
@sensitive_post_parameters("password", "again")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation and accept it, with a new account or with the one that is signed in."""
    response = _invitation(request, token)
    # The address is a secret until it is used: no page learns its path. Not "no-referrer": with that a browser
    # sends the form with "Origin: null", which the CSRF check refuses.
    response["Referrer-Policy"] = "strict-origin"
    return no_store(response)


def _invitation(request: HttpRequest, token: str) -> HttpResponse:
    found = domain.find_invitation(token)
    if found is None:
        return _gone(
            request, "There is no such invitation. Check that you have the whole link, or ask for a new one.", 404
        )
    if why := domain.refusal(found):
        return _gone(request, why)
    person = request.user if request.user.is_authenticated else None
    data = posted(request)
    join = None if person else JoinForm(data, initial={"email": found.email})
    agree = _agree_form(found, person, data)
    refused = ""
    valid = [form.is_valid() for form in (join, agree) if form is not None]  # all say what is wrong with them
    if data is not None and all(valid):
        try:
            return _accepted(request, found, person, join, agree is not None)
        except InvitationError as error:  # somebody was faster
            return _gone(request, str(error))
        except UserError as error:
            refused = str(error)
    text = render_markdown(found.campaign.personal_data) if agree and found.campaign else ""
    context = {"invitation": found, "join_form": join, "agree_form": agree, "refused": refused, "text": text}
    return render(request, "annotation/people/invitation_page.html", context, status=200 if data is None else 422)


def _gone(request: HttpRequest, why: str, status: int = 410) -> HttpResponse:
    return render(request, "annotation/people/invitation_gone.html", {"why": why}, status=status)


def _agree_form(found: Invitation, person: User | None, data: QueryDict | None) -> AgreeForm | None:
    """Return a form if the campaign has a text that this person has not agreed to."""
    campaign = found.campaign
    if campaign is None or not campaign.personal_data or (person and has_consented(person, campaign)):
        return None
    return AgreeForm(data, fingerprint=fingerprint(campaign))


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


@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: SignedInRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool)
    if not is_annotator(request.user, campaign):
        raise PermissionDenied
    asked = not has_consented(request.user, campaign)
    form = AgreeForm(request.POST or None, fingerprint=fingerprint(campaign)) if asked else None
    if request.method == "POST" and (form is None or form.is_valid()):
        agree(request.user, campaign)
        to = request.GET.get("to")
        return redirect(to if to in NEXT else NEXT[0], pool)
    state = {
        "consented_at": consented_at(request.user, campaign),
        "adjudicates": is_adjudicator(request.user, campaign),
    }
    context = {"campaign": campaign, "form": form, "text": render_markdown(campaign.personal_data), **state}
    return render(request, "annotation/people/consent_page.html", context, status=422 if form and form.errors else 200)
