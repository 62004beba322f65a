"""The people of a campaign for its manager: members, invitations, and the text that they agree to."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from annotation.errors import PersonError
from annotation.forms.people import InviteForm, MemberForm, PersonalDataForm, PersonForm, RevokeForm
from annotation.messages.guidelines import render_markdown
from annotation.models import Campaign
from annotation.people.accounts import ROLES, add_person, missing_people, take_role
from annotation.people.invitations import open_invitations
from annotation.people.members import members_of, set_personal_data
from annotation.views.find_campaign import campaign_page, find_campaign
from annotation.views.invitations import SecretLink, invite, revoke, show_link
from core.views.access import SignedInRequest, manager_required, no_store
from core.views.acts import Handler, do_act, posted
from core.views.pagination import page_of

ROLE_TAKEN = "{} is no longer {}. Questions in their hands went back; their labels stay."
ROLE_GONE = "That role was gone already."


class NewAccount(NamedTuple):
    """The password of a new account, shown this once."""

    new_name: str
    new_password: str


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def campaign_people(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    forms = _forms(campaign, partial(posted, request))
    shown: dict[str, Any] = {}
    if request.method == "POST":
        buttons = {"take": MemberForm(request.POST), "revoke": RevokeForm(campaign, request.POST)}
        done = do_act(request, _ACTS, forms, campaign, buttons)
        if isinstance(done, str):
            messages.success(request, done)
        if isinstance(done, str) or request.POST["act"] in buttons:
            return redirect("campaign-people", name)
        if done is not None:
            forms = _forms(campaign, lambda act: None)
            shown = {"invited": show_link(request, done)} if isinstance(done, SecretLink) else done._asdict()
    members = members_of(campaign)
    shown |= {f"{act}_form": form for act, form in forms.items()}
    shown |= {"invitations": open_invitations(campaign), "sends": settings.EMAIL_IS_SET}
    shown |= {"page": page_of(request, members), "text": render_markdown(campaign.personal_data)}
    shown["missing"] = missing_people(role for one in members if one.person.is_active for role in one.roles)
    consents = [member.consented_at for member in members if member.roles]
    shown |= {"num_members": len(consents), "agreed": sum(at is not None for at in consents)}
    return no_store(campaign_page(request, campaign, "annotation/people/member_list.html", shown))


def _forms(campaign: Campaign, data: Callable[[str], Any]) -> dict[str, Form]:
    text = PersonalDataForm(data("text"), initial={"text": campaign.personal_data})
    return {"person": PersonForm(data("person")), "text": text, "invite": InviteForm(data("invite"))}


def _add(campaign: Campaign, asked: dict[str, Any], by: User) -> NewAccount | str:
    person, password = add_person(asked["username"], asked["role"], campaign, by=by)
    return f"{person.username} is {asked['role']} now." if password is None else NewAccount(person.username, password)


def _take(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    if not asked["person"].isdecimal() or asked["role"] not in ROLES:
        raise PersonError("There is no such role to take away.")
    person = User.objects.filter(pk=asked["person"]).first()
    if person is None or not take_role(person, asked["role"], campaign, by=by):
        return ROLE_GONE
    return ROLE_TAKEN.format(person.username, asked["role"])


def text_saved(people: int) -> str:
    who = "1 person is" if people == 1 else f"{people} people are"
    return f"The text is saved. {who} asked again before they go on." if people else "The text is saved."


_ACTS: dict[str, Handler[SecretLink | NewAccount | str]] = {
    "person": _add,
    "take": _take,
    "text": lambda campaign, asked, by: text_saved(set_personal_data(campaign, asked["text"], by=by)),
    "invite": invite,
    "revoke": revoke,
}
