"""Everybody who can sign in, invitations to roles of the site, one person, and the audit log."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from annotation.errors import PersonError
from annotation.forms.people import ErasureForm, InviteForm, RevokeForm, SiteRoleForm
from annotation.models import Item
from annotation.people.accounts import is_erased, is_last_manager, password_path, switch_off, switch_on, take_role
from annotation.people.invitations import open_invitations
from annotation.people.own_data import erase, preview_erasure
from annotation.views.members import SecretLink, invite, revoke, show_link
from core.forms import whole_number
from core.models import AuditEntry, known_acts
from core.people.languages import chosen_language
from core.people.roles import SiteRole
from core.views.access import SignedInRequest, manager_required, no_store
from core.views.acts import Handler, attempt, do_act, posted
from core.views.own_password import own_password
from core.views.pagination import page_of
from pooling.models import Pool

SWITCHED_OFF = "{} is switched off. Questions in their hands went back; their labels stay."
SWITCHED_ON = "{} can sign in again, with the same roles as before."
ROLE_TAKEN, ROLE_GONE = "{} is no longer {}.", "{} was not {} any more."
OWN_ROLE = "This is your own role: another manager can take it away."
LAST_MANAGER = _("{} is the last manager who can sign in. Invite another manager first, then come back.")


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
    context = {"page": page_of(request, rows), "query": query, "invitations": open_invitations(None)}
    shown = {"invite_form": form, "invited": invited}
    return no_store(render(request, "annotation/people/person_list.html", context | shown))


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def person(request: SignedInRequest, pk: int) -> HttpResponse:
    found = _person(pk)
    shown = None
    if request.method == "POST":
        acts = _ACTS if settings.PASSWORD_SIGN_IN else {act: do for act, do in _ACTS.items() if act != "link"}
        done = do_act(request, acts, {}, found, {"take": SiteRoleForm(request.POST)})
        if isinstance(done, str):
            messages.success(request, done)
        if not isinstance(done, SecretLink):
            return redirect("person", pk)
        shown = show_link(request, done)
    state = {"is_erased": is_erased(found), "last_manager": is_last_manager(found), "itself": found == request.user}
    state["passwords"] = settings.PASSWORD_SIGN_IN
    context = {"person": found, "shown": shown, "site_roles": [group.name for group in found.groups.all()], **state}
    return no_store(render(request, "annotation/people/person_detail.html", context))


def _person(pk: int) -> User:
    return get_object_or_404(User.objects.prefetch_related("groups", "memberships__campaign__pool"), pk=pk)


def _switch(user: User, is_on: bool, by: User) -> str:
    (switch_on if is_on else switch_off)(user, by=by)
    return (SWITCHED_ON if is_on else SWITCHED_OFF).format(user.username)


def _take(user: User, asked: dict[str, Any], by: User) -> str:
    role = asked["role"]
    if user == by and role == SiteRole.MANAGER:
        raise PersonError(OWN_ROLE)
    had = take_role(user, role, by=by)
    return (ROLE_TAKEN if had else ROLE_GONE).format(user.username, role)


_MAIL = "annotation/people/password_mail.txt"
_ACTS: dict[str, Handler[SecretLink | str]] = {
    "off": lambda user, _, by: _switch(user, False, by),
    "on": lambda user, _, by: _switch(user, True, by),
    "link": lambda user, _, by: SecretLink(
        password_path(user, by=by), user.email, _MAIL, {"name": user.username}, chosen_language(user)
    ),
    "take": _take,
}


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def person_erase(request: SignedInRequest, pk: int) -> HttpResponse:
    found = _person(pk)
    return redirect("account-erase") if found == request.user else erase_page(request, found)


def erase_page(request: SignedInRequest, user: User) -> HttpResponse:
    """Show what an erasure takes and what stays, and erase once the name and the own password are typed."""
    own = user == request.user
    form = ErasureForm(posted(request), expected=user.username, **own_password(request))
    refused = _why_not_erase(user, request.user)
    if request.method == "POST" and not refused:
        pseudonym = attempt(form, lambda asked: erase(user, by=request.user))
        if pseudonym and own:
            request.session.flush()
            return render(request, "annotation/people/account_erased.html")
        if pseudonym:
            messages.success(request, f"The personal data are erased. The account is {pseudonym} now.")
            return redirect("person", user.pk)
    context = {"person": user, "own": own, "form": form, "preview": preview_erasure(user), "refused": refused}
    context["frame"] = "account-erase" if own else "person-erase"
    status = 422 if form.errors else 200
    return no_store(render(request, "annotation/people/person_erase.html", context, status=status))


def _why_not_erase(user: User, by: User) -> str:
    if is_erased(user):
        return gettext("The personal data of this account are erased already.")
    if is_last_manager(user):
        return LAST_MANAGER.format(user.username)
    if user.is_superuser and not by.is_superuser:
        return gettext("{} administers the server: only an administrator erases this account.").format(user.username)
    return ""


@manager_required
def audit(request: HttpRequest) -> HttpResponse:
    """Show the audit log, newest first: who did what (?act= ?person= ?pool=)."""
    act, person, pool = (request.GET.get(name, "") for name in ("act", "person", "pool"))
    page = page_of(request, _entries(act, person, pool))
    items = _items_of(page)
    for entry in page:
        entry.item = items.get((entry.pool_id, entry.about))
        entry.told = "; ".join(f"{key.replace('_', ' ')}: {_word(value)}" for key, value in entry.details.items())
    named = AuditEntry.objects.order_by()
    people = named.exclude(person=None).values("person").union(named.exclude(subject=None).values("subject"))
    choices = {
        "acts": known_acts(),
        "people": User.objects.filter(pk__in=people).order_by("username"),
        "pools": Pool.objects.order_by("name"),
    }
    chosen = {"act": act, "person": person, "pool": pool, "filtered": bool(act or person or pool)}
    return render(request, "annotation/people/audit_log.html", {"page": page, **choices, **chosen})


def _entries(act: str, person: str, pool: str) -> QuerySet[AuditEntry]:
    """Return the entries of this act, person and pool; none for a value that no entry can have."""
    rows = AuditEntry.objects.select_related("person", "subject", "pool")
    if act:
        rows = rows.filter(act=act) if act in dict(known_acts()) else rows.none()
    if person:
        pk = whole_number(person)
        rows = rows.none() if pk is None else rows.filter(Q(person=pk) | Q(subject=pk))
    if pool:
        rows = rows.filter(pool__name=pool) if "\0" not in pool else rows.none()
    return rows


def _items_of(entries: Iterable[AuditEntry]) -> dict[tuple[int | None, str], int]:
    """Return the items that entries are about, by pool and words, if they are still there."""
    named = {entry.about.removeprefix("item ") for entry in entries if entry.pool and entry.about.startswith("item ")}
    found = Item.objects.filter(pk__in=[pk for pk in named if pk.isascii() and pk.isdecimal() and len(pk) < 19])
    return {(pool, f"item {pk}"): pk for pk, pool in found.values_list("pk", "campaign__pool")}


def _word(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
