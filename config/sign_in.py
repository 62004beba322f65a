"""Limit guesses at passwords. django-axes keeps the wrong ones for AXES_COOLOFF_TIME; this says how many are too many.

Nobody can lock somebody else out: an address is refused, never a name everywhere.
"""

from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.helpers import get_client_username
from axes.models import AccessAttempt, AccessLog
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, redirect_to_login
from django.db.models import Sum
from django.db.models.signals import pre_save
from django.dispatch import receiver
from django.forms import TextInput
from django.http import Http404, HttpRequest, HttpResponse

from core.people.roles import read_person

TRIES = 10  # wrong passwords from one address for one name
GUESSED = 30  # wrong passwords for a name from everywhere, after which each new address has only FEW
FEW = 3
NAMES = 20  # names tried with wrong passwords from one address, after which it may try no other
ADD_MANAGER = "manage.py add_person NAME --role manager"  # the same in every language


class Accounts(ModelBackend):
    """The accounts of this site, read with their roles."""

    def get_user(self, user_id: int) -> User | None:
        person = read_person(user_id)
        return person if person is not None and self.user_can_authenticate(person) else None


class NoPassword(Accounts):
    """Accept no password: people sign in at a provider. It gives the accounts to sessions, as usual."""

    def authenticate(self, request: Any, username: Any = None, password: Any = None, **kwargs: Any) -> None:
        return None


_OF_PASSWORDS = {
    "password-forgotten", "password-sent", "password-new", "password-new-done", "account-password", "admin-password",
}  # fmt: skip


class WithoutPasswords:
    """Take the pages away that are about passwords, and let invitations be accepted after signing in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        name = request.resolver_match.url_name if request.resolver_match else None
        if name in _OF_PASSWORDS:
            raise Http404
        if name == "invitation" and not request.user.is_authenticated:
            return redirect_to_login(request.path)
        return None


class SignIn(LoginView):
    def get_success_url(self) -> str:
        """Return the address to go on to, never this page: for somebody signed in, Django answers that with 500."""
        address = super().get_success_url()
        return self.get_default_redirect_url() if address == self.request.path else address


class SignInForm(AuthenticationForm):
    """The form of Django, which gives its name field no validator for the length."""

    username = UsernameField(max_length=150, widget=TextInput(attrs={"autofocus": True}))


class AdminSignInForm(SignInForm, AdminAuthenticationForm):
    pass


@receiver(pre_save, sender=AccessAttempt)
def keep_no_form(instance: AccessAttempt, **_: Any) -> None:
    """Keep the name, address, browser and time of a wrong password, and nothing of the form.

    django-axes keeps forms and masks a field called password; those of a password change have other names.
    """
    instance.get_data = instance.post_data = ""


def address_of(request: HttpRequest) -> str | None:
    """Return the address by which wrong passwords are counted; of IPv6 the /64 network, which one person has whole.

    config.proxies.TrustProxies put the client's address into REMOTE_ADDR. None: a Unix socket, without a proxy.
    """
    text = request.META.get("REMOTE_ADDR", "")
    if not text:
        return None
    address = ip_address(text.partition("%")[0])
    return str(ip_network((address, 64), strict=False)[0]) if isinstance(address, IPv6Address) else str(address)


def tries(request: Any, credentials: dict[str, Any] | None = None) -> int:
    """Return how many wrong passwords lock this address for this name; 0 if it is locked for every new name.

    A person who has signed in from this address before has all tries there, whatever others do.
    """
    name, address = get_client_username(request, credentials), request.axes_ip_address
    recent = AccessAttempt.objects.filter(attempt_time__gte=get_cool_off_threshold(request))
    wrong = recent.filter(username=name).aggregate(n=Sum("failures_since_start"))["n"] or 0
    is_spraying = recent.filter(ip_address=address).values("username").distinct().count() >= NAMES
    if not (is_spraying or wrong >= GUESSED) or AccessLog.objects.filter(username=name, ip_address=address).exists():
        return TRIES
    return 0 if is_spraying else FEW
