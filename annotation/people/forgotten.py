"""Send a link to a person who forgot the password. A worker looks for the account and sends the mail.

So a page takes the same time, and says the same, whether or not an account has the address.
"""

import unicodedata
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from annotation.errors import PersonError
from annotation.models import PasswordRequest
from annotation.people.accounts import new_password_path
from annotation.people.invitations import send
from core import clock
from core.database import one_at_a_time
from core.people.languages import chosen_language

HOUR = timedelta(hours=1)
PER_ADDRESS = 10  # requests an hour from one network address
PER_PERSON = 3  # mails an hour to one e-mail address
KEPT = timedelta(days=1)
MOST_UNKNOWN = 100  # requests without an account that one call skips
TOO_MANY = _("Too many links were asked for from here. Nothing was sent. Try again in an hour, or ask a manager.")


def sends_links() -> bool:
    """Return whether the site can mail links: it needs a mail server and an address of its own to name."""
    return bool(settings.EMAIL_IS_SET and settings.SITE_URL)


def ask(email: str, ip_address: str | None, *, now: datetime | None = None) -> PasswordRequest:
    """Keep and return a request for a worker; PersonError if too many came from this network address."""
    now = now or clock.now()
    with transaction.atomic():
        one_at_a_time(f"ask for a password link from {ip_address}")  # or all of many at once count the same few
        recent = PasswordRequest.objects.filter(ip_address=ip_address, created_at__gt=now - HOUR)
        if recent.count() >= PER_ADDRESS:
            raise PersonError(TOO_MANY)
        return PasswordRequest.objects.create(email=folded(email), ip_address=ip_address, created_at=now)


def answer_next(now: datetime | None = None) -> bool:
    """Answer the oldest requests until a mail was sent; return whether one was. Workers call this every few seconds.

    One mail a call, since the worker must go on with its heartbeat. If the mail server fails, the person asks again.
    """
    if not sends_links():
        return False
    now = now or clock.now()
    waiting = PasswordRequest.objects.filter(handled_at=None).order_by("created_at")
    for asked in waiting[:MOST_UNKNOWN]:
        if PasswordRequest.objects.filter(pk=asked.pk, handled_at=None).update(handled_at=now) != 1:
            continue  # another worker was faster
        before = PasswordRequest.objects.filter(email=asked.email, handled_at__gt=now - HOUR).exclude(pk=asked.pk)
        users = list(PasswordResetForm().get_users(asked.email)) if before.count() < PER_PERSON else []
        if users:
            return all(_send(user) for user in users)  # all at one address: what fails once fails again
    old = PasswordRequest.objects.filter(created_at__lt=now - KEPT)
    if old.exists():  # a question locks nothing
        old.delete()
    return False


def folded(email: str) -> str:
    """Return the text by which requests for the same account are counted together."""
    return unicodedata.normalize("NFKC", email).casefold()[:254]


def _send(user: User) -> bool:
    with override(chosen_language(user) or settings.LANGUAGE_CODE):
        url = f"{settings.SITE_URL}{new_password_path(user)}"
        return send(user.email, "registration/password_mail.txt", {"name": user.username, "url": url})
