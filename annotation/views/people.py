"""Everybody who can sign in, invitations to roles of the site, and one person: on, off, new password, erased."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.errors import PersonError
from annotation.forms.people import ConfirmForm, InviteForm, RevokeForm, SiteRoleForm
from annotation.people.accounts import is_erased, is_last_manager, password_path, switch_off, switch_on, take_role
from annotation.people.erasure import erase, preview_erasure
from annotation.people.invitations import open_invitations
from annotation.views.invitations import SecretLink, invite, revoke, show_link
from core.people.roles import SiteRole
from core.views.access import SignedInRequest, manager_required, no_store
from core.views.acts import Handler, attempt, do_act, posted
from core.views.pagination import page_of

SWITCHED_OFF = "{} is switched off. Questions in their hands went back; their labels stay."
SWITCHED_ON = "{} can sign in again, with the same roles as before."
ROLE_TAKEN, ROLE_GONE = "{} is no longer {}.", "{} was not {} any more."
OWN_ROLE = "This is your own role: another manager can take it away."
LAST_MANAGER = "{} is the last manager who can sign in. Invite another manager first, then come back."


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: SignedInRequest) -> HttpResponse:
    """List everybody with an account, their roles and campaigns; invite to roles of the site."""
    form, invited = InviteForm(posted(request, "invite"), site=True), None
    if request.method == "POST":
        button = RevokeForm(None, request.POST)
        done = do_act(request, {"invite": invite, "revoke": revoke}, {"invite": form}, None, {"revoke": button})
        if isinstance(done, str):
            messages.success(request, done)
        if request.POST["act"] == "revoke":
            return redirect("people")
        if isinstance(done, SecretLink):
            form, invited = InviteForm(site=True), show_link(request, done)
    rows = User.objects.prefetch_related("groups", "memberships__campaign__pool").order_by("username")
    query = request.GET.get("q", "").replace("\0", "").strip()
    if query:
        rows = rows.filter(Q(username__icontains=query) | Q(email__icontains=query))
    context = {
        "page": page_of(request, rows),
        "query": query,
        "invitations": open_invitations(None),
        "invite_form": form,
        "invited": invited,
    }
    return no_store(render(request, "annotation/people/person_list.html", context))


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def person(request: SignedInRequest, pk: int) -> HttpResponse:
    found = _person(pk)
    shown = None
    if request.method == "POST":
        done = do_act(request, _ACTS, {}, found, {"take": SiteRoleForm(request.POST)})
        if isinstance(done, str):
            messages.success(request, done)
        if not isinstance(done, SecretLink):
            return redirect("person", pk)
        shown = show_link(request, done)
    context = {
        "person": found,
        "is_erased": is_erased(found),
        "last_manager": is_last_manager(found),
        "shown": shown,
        "site_roles": [group.name for group in found.groups.all()],
        "itself": found == request.user,
    }
    return no_store(render(request, "annotation/people/person_detail.html", context))


def _person(pk: int) -> User:
    return get_object_or_404(User.objects.prefetch_related("groups", "memberships__campaign__pool"), pk=pk)


def _off(user: User, _: dict[str, Any], by: User) -> str:
    switch_off(user, by=by)
    return SWITCHED_OFF.format(user.username)


def _on(user: User, _: dict[str, Any], by: User) -> str:
    switch_on(user, by=by)
    return SWITCHED_ON.format(user.username)


def _password_link(user: User, _: dict[str, Any], by: User) -> SecretLink:
    mail = "annotation/people/password_mail.txt"
    return SecretLink(password_path(user, by=by), user.email, mail, {"name": user.username})


def _take(user: User, asked: dict[str, Any], by: User) -> str:
    role = asked["role"]
    if user == by and role == SiteRole.MANAGER:
        raise PersonError(OWN_ROLE)
    had = take_role(user, role, by=by)
    return (ROLE_TAKEN if had else ROLE_GONE).format(user.username, role)


_ACTS: dict[str, Handler[SecretLink | str]] = {"off": _off, "on": _on, "link": _password_link, "take": _take}


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def person_erase(request: SignedInRequest, pk: int) -> HttpResponse:
    found = _person(pk)
    if found == request.user:
        return redirect("account-erase")
    return erase_page(request, found)


def erase_page(request: SignedInRequest, user: User) -> HttpResponse:
    """Show what an erasure takes and what stays, and erase once the name is typed; also one's own account."""
    own = user == request.user
    form = ConfirmForm(posted(request), name=user.username)
    refused = _why_not_erase(user, request.user)
    if request.method == "POST" and not refused:
        pseudonym = attempt(form, lambda asked: erase(user, by=request.user))
        if pseudonym and own:
            request.session.flush()
            return render(request, "annotation/people/account_erased.html")
        if pseudonym:
            messages.success(request, f"The personal data are erased. The account is {pseudonym} now.")
            return redirect("person", user.pk)
    context = {
        "frame": "account-erase" if own else "person-erase",
        "person": user,
        "own": own,
        "form": form,
        "preview": preview_erasure(user),
        "refused": refused,
    }
    return no_store(render(request, "annotation/people/person_erase.html", context))


def _why_not_erase(user: User, by: User) -> str:
    if is_erased(user):
        return "The personal data of this account are erased already."
    if is_last_manager(user):
        return LAST_MANAGER.format(user.username)
    if user.is_superuser and not by.is_superuser:
        return f"{user.username} administers the server: only an administrator erases this account."
    return ""
