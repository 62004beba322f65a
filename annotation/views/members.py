"""The people of a campaign for its manager, and the text that they agree to; invitations, made and accepted."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.forms import Form
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext, override
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation.errors import InvitationError, PersonError
from annotation.forms import people
from annotation.messages.guidelines import render_markdown
from annotation.models import Campaign, Invitation
from annotation.people import invitations as domain
from annotation.people.accounts import ROLES, add_person, missing_people, take_role
from annotation.people.members import consent as agree
from annotation.people.members import consented_at, fingerprint, members_of, set_personal_data
from annotation.permissions import has_consented, is_adjudicator, is_annotator
from annotation.views.find_campaign import campaign_page, find_campaign
from core.errors import UserError
from core.forms import whole_number
from core.people.languages import choose_language
from core.people.roles import WORDS
from core.views.access import SignedInRequest, link_to, manager_required, no_store
from core.views.acts import Handler, do_act, posted
from core.views.pagination import page_of

REVOKED = "The invitation is revoked: its link is refused from now on."
# pages that send people to the consent and get them back; the first also gets those who came by themselves
NEXT = ("annotate", "adjudicate", "my-labels", "messages")
_MAIL = "annotation/people/invitation_mail.txt"
MAIL_SECONDS = 60.0  # after these a page sends no further mail: it shows the links that are left
_BACKEND = "config.sign_in.Accounts"
ROLE_TAKEN = "{} is no longer {}. Questions in their hands went back; their labels stay."
ROLE_GONE = "That role was gone already."


class SecretLink(NamedTuple):
    """A link that one person gets, and the mail that carries it to them."""

    path: str
    email: str
    mail: str  # template
    context: dict[str, Any]
    language: str = ""  # of the mail; empty: that of the site


def show_link(request: HttpRequest, link: SecretLink, *, late: bool = False) -> dict[str, str | bool]:
    """Send the link to its person if the site sends e-mail, and return it for the page, which shows it this once.

    `late`: send none.
    """
    url = link_to(request, link.path)
    with override(link.language if link.language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE):
        sent = not late and domain.send(link.email, link.mail, {"url": url, **link.context})
    return {"url": url, "email": link.email, "sent": sent, "sends": settings.EMAIL_IS_SET}


def invite(campaign: Campaign | None, asked: dict[str, Any], by: User) -> SecretLink:
    """Make an invitation to a role of the campaign, or of the site: an act of the pages of people."""
    limit = asked.get("limit", 1)
    made, token = domain.invite(asked["role"], campaign, email=asked["email"], days=asked["days"], limit=limit, by=by)
    path = reverse("invitation", args=[token])
    return SecretLink(path, made.email, _MAIL, {"invitation": made}, _language(campaign, asked))


def _language(campaign: Campaign | None, asked: dict[str, Any]) -> str:
    """Return the language that was chosen for the mail, or else that of the campaign."""
    return asked.get("language") or (campaign.language if campaign else "")


class SecretLinks(NamedTuple):
    """Links for several people, and how many addresses had an open invitation already."""

    links: list[SecretLink]
    known: int


def invite_many(campaign: Campaign, asked: dict[str, Any], by: User) -> SecretLinks:
    """Invite many addresses: an act of the page of a campaign's people."""
    made = domain.invite_many(asked["role"], campaign, asked["emails"], days=asked["days"], by=by)
    links = [
        SecretLink(
            reverse("invitation", args=[token]), one.email, _MAIL, {"invitation": one}, _language(campaign, asked)
        )
        for one, token in made
    ]
    return SecretLinks(links, len(asked["emails"]) - len(links))


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
            request,
            gettext("There is no such invitation. Check that you have the whole link, or ask for a new one."),
            404,
        )
    if why := domain.refusal(found):
        return _gone(request, why)
    person = request.user if request.user.is_authenticated else None
    data = posted(request)
    join = None if person else people.JoinForm(data, initial={"email": found.email})
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


def _gone(request: HttpRequest, why: str | Promise, status: int = 410) -> HttpResponse:
    return render(request, "annotation/people/invitation_gone.html", {"why": why}, status=status)


def _agree_form(found: Invitation, person: User | None, data: QueryDict | None) -> people.AgreeForm | None:
    """Return a form if the campaign has a text that this person has not agreed to."""
    campaign = found.campaign
    if campaign is None or not campaign.personal_data or (person and has_consented(person, campaign)):
        return None
    return people.AgreeForm(data, fingerprint=fingerprint(campaign))


def _accepted(
    request: HttpRequest, found: Invitation, person: User | None, join: people.JoinForm | None, agreed: bool
) -> HttpResponse:
    if join is None:
        assert person is not None
        domain.accept(found, person, agreed=agreed)
    else:
        asked = join.cleaned_data
        person = domain.accept_as_new(found, asked["username"], asked["password"], email=asked["email"], agreed=agreed)
        choose_language(person, get_language() or settings.LANGUAGE_CODE)  # in which they read the invitation
        login(request, person, backend=_BACKEND)
    if found.campaign:
        told = gettext("Welcome, {name}: you are {role} of {campaign} now.")
    else:
        told = gettext("Welcome, {name}: you are {role} of this site now.")
    named = {"name": person.username, "role": WORDS[found.role], "campaign": found.campaign}
    messages.success(request, told.format(**named))
    return redirect("home")


@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: SignedInRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool)
    if not is_annotator(request.user, campaign):
        raise PermissionDenied
    asked = not has_consented(request.user, campaign)
    form = people.AgreeForm(request.POST or None, fingerprint=fingerprint(campaign)) if asked else None
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


class NewAccount(NamedTuple):
    """The password of a new account, shown this once."""

    new_name: str
    new_password: str


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def campaign_people(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name, before_opening=True)
    forms = _forms(campaign, partial(posted, request))
    shown: dict[str, Any] = {}
    if request.method == "POST":
        buttons = {"take": people.MemberForm(request.POST), "revoke": people.RevokeForm(campaign, request.POST)}
        done = do_act(request, _ACTS, forms, campaign, buttons)
        if isinstance(done, str):
            messages.success(request, done)
        if isinstance(done, str) or request.POST["act"] in buttons:
            return redirect("campaign-people", name)
        if done is not None:
            forms = _forms(campaign, lambda act: None)
            shown = _shown(request, done)
    members = members_of(campaign)
    shown |= {f"{act}_form": form for act, form in forms.items()}
    shown |= {"invitations": domain.open_invitations(campaign), "sends": settings.EMAIL_IS_SET}
    shown |= {"page": page_of(request, members), "text": render_markdown(campaign.personal_data)}
    shown["missing"] = missing_people(role for one in members if one.person.is_active for role in one.roles)
    consents = [member.consented_at for member in members if member.roles]
    shown |= {"num_members": len(consents), "agreed": sum(at is not None for at in consents)}
    return no_store(campaign_page(request, campaign, "annotation/people/member_list.html", shown))


def _shown(request: HttpRequest, done: SecretLink | SecretLinks | NewAccount) -> dict[str, Any]:
    """Return what the page shows this once."""
    if isinstance(done, SecretLink):
        return {"invited": show_link(request, done)}
    if isinstance(done, SecretLinks):
        until = time.monotonic() + MAIL_SECONDS
        many = [show_link(request, link, late=time.monotonic() > until) for link in done.links]
        return {"many": many, "num_sent": sum(bool(one["sent"]) for one in many), "known": done.known, "has_many": True}
    return done._asdict()


def _forms(campaign: Campaign, data: Callable[[str], Any]) -> dict[str, Form]:
    spoken = {"language": campaign.language}
    text = people.PersonalDataForm(data("text"), initial={"text": campaign.personal_data})
    return {
        "person": people.PersonForm(data("person")),
        "text": text,
        "invite": people.InviteForm(data("invite"), initial=spoken),
        "many": people.InviteManyForm(data("many"), initial=spoken),
    }


def _add(campaign: Campaign, asked: dict[str, Any], by: User) -> NewAccount | str:
    person, password = add_person(asked["username"], asked["role"], campaign, by=by)
    return f"{person.username} is {asked['role']} now." if password is None else NewAccount(person.username, password)


def _take(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    pk = whole_number(asked["person"])
    if pk is None or asked["role"] not in ROLES:
        raise PersonError("There is no such role to take away.")
    person = User.objects.filter(pk=pk).first()
    if person is None or not take_role(person, asked["role"], campaign, by=by):
        return ROLE_GONE
    return ROLE_TAKEN.format(person.username, asked["role"])


def text_saved(people: int) -> str:
    who = "1 person is" if people == 1 else f"{people} people are"
    return f"The text is saved. {who} asked again before they go on." if people else "The text is saved."


_ACTS: dict[str, Handler[SecretLink | SecretLinks | NewAccount | str]] = {
    "person": _add,
    "take": _take,
    "text": lambda campaign, asked, by: text_saved(set_personal_data(campaign, asked["text"], by=by)),
    "invite": invite,
    "many": invite_many,
    "revoke": revoke,
}
