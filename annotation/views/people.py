"""Everybody who can sign in, invitations to roles of the site, and one person: on, off, new password, erased."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.enums import SiteRole
from annotation.errors import PersonError
from annotation.forms.people import ConfirmForm
from annotation.people import mail
from annotation.people.accounts import is_erased, is_last_manager, password_path, switch_off, switch_on, take_role
from annotation.people.erasure import erase, preview_erasure
from annotation.people.invitations import open_invitations
from annotation.views.find_campaign import link_to, no_store
from annotation.views.invitations import Shown, act_on_invitations
from core.views.access import manager_required
from core.views.pagination import page_of


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest) -> HttpResponse:
    """Everybody with an account, their roles and campaigns."""
    done = act_on_invitations(request, None, "people")
    if isinstance(done, HttpResponse):
        return done
    rows = User.objects.prefetch_related("groups", "memberships__campaign__pool").order_by("username")
    query = request.GET.get("q", "").replace("\0", "").strip()
    if query:
        rows = rows.filter(Q(username__icontains=query) | Q(email__icontains=query))
    context = {"page": page_of(request, rows), "query": query, "invitations": open_invitations(None), **done}
    return no_store(render(request, "annotation/people/person_list.html", context))


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def person(request: HttpRequest, pk: int) -> HttpResponse:
    found = _person(pk)
    shown: Shown | None = None
    if request.method == "POST":
        try:
            done = _act(request, found)
        except PersonError as error:
            messages.error(request, str(error))
            return redirect("person", pk)
        if isinstance(done, str):
            messages.success(request, done)
            return redirect("person", pk)
        shown = done
    context = {
        "person": found,
        "is_erased": is_erased(found),
        "last_manager": is_last_manager(found),
        "shown": shown,
        "site_roles": [group.name for group in found.groups.all()],
        "itself": found == request.user,
    }
    return no_store(render(request, "annotation/people/person_detail.html", context))


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def person_erase(request: HttpRequest, pk: int) -> HttpResponse:
    found = _person(pk)
    if found == request.user:
        return redirect("account-erase")
    return erase_page(request, found)


def erase_page(request: HttpRequest, user: User) -> HttpResponse:
    """What is erased and what stays; the name must be typed. Also for one's own account."""
    own = user == request.user
    form = ConfirmForm(request.POST or None, name=user.username)
    refused = _why_not_erase(user, request.user)  # type: ignore[arg-type]  # signed in
    if request.method == "POST" and not refused and form.is_valid():
        try:
            pseudonym = erase(user, by=request.user)  # type: ignore[arg-type]
        except PersonError as error:
            form.add_error(None, str(error))
        else:
            if own:
                request.session.flush()
                return render(request, "annotation/people/account_erased.html")
            messages.success(request, f"The personal data are erased. The account is {pseudonym} now.")
            return redirect("person", user.pk)
    context = {"person": user, "own": own, "form": form, "preview": preview_erasure(user), "refused": refused}
    return no_store(render(request, "annotation/people/person_erase.html", context))


def _why_not_erase(user: User, by: User) -> str:
    if is_erased(user):
        return "The personal data of this account are erased already."
    if is_last_manager(user):
        return f"{user.username} is the last manager who can sign in. Invite another manager first, then come back."
    if user.is_superuser and not by.is_superuser:
        return f"{user.username} administers the server: only an administrator erases this account."
    return ""


def _person(pk: int) -> User:
    return get_object_or_404(User.objects.prefetch_related("groups", "memberships__campaign__pool"), pk=pk)


def _act(request: HttpRequest, user: User) -> str | Shown:
    """Do what the button asks for; a sentence, or a link to be shown once."""
    by: User = request.user  # type: ignore[assignment]  # signed in
    act = request.POST.get("act")
    if act == "off":
        switch_off(user, by=by)
        return f"{user.username} is switched off. Questions in their hands went back; their labels stay."
    if act == "on":
        switch_on(user, by=by)
        return f"{user.username} can sign in again, with the same roles as before."
    if act == "link":
        url = link_to(request, password_path(user, by=by))
        sent = mail.send(user.email, "annotation/people/password_mail.txt", {"url": url, "name": user.username})
        return Shown(url, user.email, sent)
    if act == "take":
        role = request.POST.get("role")
        if role not in SiteRole.values:
            raise Http404
        if user == by and role == SiteRole.MANAGER:
            raise PersonError("This is your own role: another manager can take it away.")
        return _told(user, role, take_role(user, role, by=by))
    raise Http404


def _told(user: User, role: str, had: bool) -> str:
    return f"{user.username} is no longer {role}." if had else f"{user.username} was not {role} any more."
