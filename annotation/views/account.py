"""The own account: e-mail, password, own data, erasure; and the way back after a forgotten password."""

import json
from functools import partial
from typing import Any

from axes.helpers import get_client_ip_address
from axes.utils import reset as unlock
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.models import User
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.forms.people import ChangePasswordForm, EmailForm
from annotation.people.forgotten import ask, sends_links
from annotation.people.own_data import own_data
from annotation.views.people import erase_page
from core.people.roles import CampaignRole, site_roles
from core.people.time_zones import choose_zone, chosen_zone
from core.views.access import SignedInRequest, no_store
from core.views.acts import attempt
from core.views.files import text_response
from core.views.own_password import has_password, is_own_password, own_password
from core.zones import city, is_zone, zones

# acts that have a key of their own on the pages of questions: its usual letter, and what it does
KEYS = (
    ("y", _("Yes")), ("n", _("No")), ("s", _("Can’t tell")), ("u", _("Undo")),
    ("r", _("No for the remaining rows")), ("e", _("A link for this row alone")),
    ("c", _("Take the copied address")), ("l", _("Take the last source")), ("f", _("Report")), ("g", _("Guidelines")),
    ("?", _("List of keys")),
)  # fmt: skip
ADJUDICATOR_KEYS = (
    ("a", _("Source of answer A")), ("b", _("Source of answer B")), ("w", _("Reason: wrong entity")),
    ("d", _("Reason: the source doesn’t say it")), ("o", _("Reason: out of date")),
    ("m", _("Reason: misread the statement")), ("t", _("Reason in your words")),
    ("p", _("Ask two others instead of deciding")),
)  # fmt: skip
_REGIONS = {
    "Africa": _("Africa"), "America": _("America"), "Antarctica": _("Antarctica"), "Arctic": _("Arctic"),
    "Asia": _("Asia"), "Atlantic": _("Atlantic Ocean"), "Australia": _("Australia"), "Europe": _("Europe"),
    "Indian": _("Indian Ocean"), "Pacific": _("Pacific Ocean"),
}  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
def account(request: SignedInRequest) -> HttpResponse:
    user = request.user
    form = EmailForm(request.POST or None, initial={"email": user.email}, **own_password(request))
    if request.method == "POST" and form.is_valid():
        User.objects.filter(pk=user.pk).update(email=form.cleaned_data["email"])
        messages.success(request, gettext("The e-mail address is saved."))
        return redirect("account")
    memberships = user.memberships.select_related("campaign__pool").order_by("campaign__pool__name", "role")
    context = {"form": form, "memberships": memberships, "site_roles": sorted(site_roles(user))}
    context |= {"keys": KEYS, "adjudicator_keys": ADJUDICATOR_KEYS}
    context["adjudicates"] = any(member.role == CampaignRole.ADJUDICATOR for member in memberships)
    context |= {"email_is_set": sends_links(), "has_password": has_password(user)}
    context |= {"now": timezone.now(), "zone": chosen_zone(user), "site_zone": settings.SITE_TIME_ZONE}
    context["zones"] = [(_REGIONS[region], [(name, city(name)) for name in names]) for region, names in zones().items()]
    return render(request, "annotation/people/account_page.html", context, status=422 if form.errors else 200)


@require_POST
def account_time_zone(request: SignedInRequest) -> HttpResponse:
    """Keep the zone in which the person reads times; empty: the site's."""
    name = request.POST.get("time_zone")
    if name is None or (name and not is_zone(name)):
        raise Http404
    choose_zone(request.user, name)
    messages.success(request, gettext("The time zone is saved."))
    return redirect("account")


@require_GET
def account_data(request: SignedInRequest) -> HttpResponse:
    """Send everything that the site knows about the person, as a file."""
    text = json.dumps(own_data(request.user), cls=DjangoJSONEncoder, ensure_ascii=False, indent=1)
    return no_store(text_response(text, "triplepool-own-data.json"))


@require_http_methods(["GET", "HEAD", "POST"])
def account_erase(request: SignedInRequest) -> HttpResponse:
    return erase_page(request, request.user)


class _Refusing:
    """Answer 422 where the form is refused, as the other forms of the site do; Django's views answer 200."""

    def form_invalid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_invalid(form)  # type: ignore[misc]
        response.status_code = 422
        return response


class PasswordChange(_Refusing, auth.PasswordChangeView):
    template_name = "registration/password_change.html"
    success_url = reverse_lazy("account")
    form_class = ChangePasswordForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"is_password": partial(is_own_password, self.request)}

    def form_valid(self, form: Any) -> HttpResponse:
        with transaction.atomic():
            user = User.objects.select_for_update().get(pk=form.user.pk)
            typed = form.cleaned_data["old_password"]
            if user.password != form.user.password and not user.check_password(typed):  # another change was faster
                form.add_error("old_password", form.error_messages["password_incorrect"])
                return self.form_invalid(form)
            form.user = user  # Django saves all columns: they must not be those from before the lock
            response = super().form_valid(form)
        unlock(username=user.get_username())  # forget earlier wrong passwords
        messages.success(
            self.request,
            gettext("The password is changed. You are signed out everywhere else, and your API tokens are revoked."),
        )
        return response


class Forgotten(_Refusing, auth.PasswordResetView):
    """Send a link if the site sends e-mail; otherwise the page only says whom to ask."""

    template_name = "registration/password_forgotten.html"
    success_url = reverse_lazy("password-sent")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"email_is_set": sends_links()}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return (super().post if sends_links() else self.get)(request, *args, **kwargs)

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        if attempt(form, lambda asked: ask(asked["email"], get_client_ip_address(self.request)), "email"):
            return redirect(self.success_url)
        return self.render_to_response(self.get_context_data(form=form), status=429)


class Sent(auth.PasswordResetDoneView):
    template_name = "registration/password_sent.html"


class NewPassword(_Refusing, auth.PasswordResetConfirmView):
    template_name = "registration/password_new.html"
    success_url = reverse_lazy("password-new-done")

    def get_user(self, uidb64: str) -> User | None:
        """Return the account of a link, None if it was switched off since."""
        user = super().get_user(uidb64)
        return user if isinstance(user, User) and user.is_active else None

    def form_valid(self, form: Any) -> HttpResponse:
        token = self.request.session.get(auth.INTERNAL_RESET_SESSION_TOKEN)
        with transaction.atomic():
            user = User.objects.select_for_update().filter(pk=form.user.pk, is_active=True).first()
            # Django checked the token before the lock: of several requests at once, the first uses it up
            if user is None or not self.token_generator.check_token(user, token):
                self.validlink = False
                return self.render_to_response(self.get_context_data())
            form.user = user
            response = super().form_valid(form)
        unlock(username=user.username)  # forget earlier wrong passwords
        return response


class NewPasswordDone(auth.PasswordResetCompleteView):
    template_name = "registration/password_done.html"
