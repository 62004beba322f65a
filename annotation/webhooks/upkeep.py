"""What managers do with webhooks: add, change, test, switch off, remove. The audit log has each act, and the host."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse

from annotation.enums import AnnotationAct
from annotation.errors import WebhookError
from annotation.models import Webhook
from annotation.webhooks.addresses import checked_target
from annotation.webhooks.deliveries import give_up
from annotation.webhooks.events import TEST, note
from annotation.webhooks.signing import new_salt, secret_of
from core.database import gone, held, one_at_a_time
from core.people.audit_log import record
from pooling.models import Pool

MOST = 20  # of a site


def add_webhook(url: str, events: Sequence[str], pool: Pool | None, *, by: User) -> tuple[Webhook, str]:
    """Return a new webhook and its secret, to show once. AddressRefused; WebhookError if there are too many."""
    checked_target(url)
    with transaction.atomic():
        one_at_a_time("add a webhook")
        if Webhook.objects.count() >= MOST:
            raise WebhookError(f"This site has {MOST} webhooks: remove one that is not needed.")
        hook = Webhook.objects.create(url=url, events=sorted(events), pool=pool, salt=new_salt(), created_by=by)
        record(by, AnnotationAct.WEBHOOK_ADDED, pool=pool, about=hook.host, events=hook.events)
    return hook, secret_of(hook.salt)


def change_webhook(hook: Webhook, url: str, events: Sequence[str], pool: Pool | None, *, by: User) -> Webhook:
    """Change where a webhook goes and what it tells. AddressRefused if it may not go there."""
    checked_target(url)
    with transaction.atomic():
        held(hook)
        Webhook.objects.filter(pk=hook.pk).update(url=url, events=sorted(events), pool=pool, failures=0)
        hook.refresh_from_db()
        record(by, AnnotationAct.WEBHOOK_CHANGED, pool=pool, about=hook.host, events=hook.events)
    return hook


def new_secret(hook: Webhook, *, by: User) -> str:
    """Return a new secret of a webhook; messages are signed with it from now on."""
    with transaction.atomic():
        held(hook)
        salt = new_salt()
        Webhook.objects.filter(pk=hook.pk).update(salt=salt)
        record(by, AnnotationAct.WEBHOOK_SECRET, pool=hook.pool, about=hook.host)
    return secret_of(salt)


def switch_webhook(hook: Webhook, on: bool, *, by: User) -> bool:
    """Switch a webhook on or off, and return whether that changed it. What waits when it goes off is never sent."""
    with transaction.atomic():
        changed = Webhook.objects.filter(pk=hook.pk, active=not on).update(active=on, failures=0, stopped_at=None)
        if changed:
            record(by, AnnotationAct.WEBHOOK_SWITCHED, pool=hook.pool, about=hook.host, on=on)
            if not on:
                give_up(hook)
    return bool(changed)


def remove_webhook(hook: Webhook, *, by: User) -> None:
    """Remove a webhook and its messages; GoneError if somebody was faster."""
    with transaction.atomic():
        if not Webhook.objects.select_for_update().filter(pk=hook.pk):
            raise gone(hook)
        record(by, AnnotationAct.WEBHOOK_REMOVED, pool=hook.pool, about=hook.host)
        hook.delete()


def send_test(hook: Webhook) -> None:
    """Have a message sent that says it is a test, once, also by a webhook that is switched off."""
    with transaction.atomic():
        note([hook], TEST, hook.pool, reverse("webhook", args=[hook.pk]), {"message": "This is a test."})
