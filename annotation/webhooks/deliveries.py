"""Send the messages of webhooks from a job; try again with growing waits, and switch off what stays out of reach."""

from collections.abc import Collection
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from annotation.enums import AnnotationAct, AnnotationJob, DeliveryState
from annotation.models import Delivery, Webhook
from annotation.webhooks.events import TEST
from annotation.webhooks.sending import Outcome, send_message
from annotation.webhooks.signing import secret_of
from core import clock
from core.enums import JobState
from core.jobs.lifecycle import start_job
from core.jobs.progress import Progress
from core.models import Job
from core.people.audit_log import record

# after each attempt but the last
WAITS = (
    timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2), timedelta(hours=8),
)  # fmt: skip
MOST_ATTEMPTS = len(WAITS) + 1
MOST_FAILURES = 3  # messages given up in a row, before the webhook is switched off
KEPT = 50  # messages of a webhook that are over
AT_ONCE = 8  # webhooks that are sent to at the same time, so that one that hangs does not hold up the others


def start_due(now: datetime | None = None) -> bool:
    """Start the job that sends messages, if one is due; return whether. Workers call this every few seconds."""
    if not Delivery.objects.filter(state=DeliveryState.WAITING, due_at__lte=now or clock.now()).exists():
        return False
    start_job(AnnotationJob.SEND_WEBHOOKS)
    return True


def run_send(job: Job, progress: Progress) -> None:
    """Send every message that is due, those of one webhook one after the other.

    Earlier jobs of this kind that are done leave the list of jobs.
    """
    Job.objects.filter(kind=job.kind, state=JobState.DONE).exclude(pk=job.pk).delete()
    sent = 0
    under_way: dict[Future[Outcome], Delivery] = {}
    with ThreadPoolExecutor(AT_ONCE) as senders:
        while True:
            while len(under_way) < AT_ONCE and (mine := _claim([one.webhook_id for one in under_way.values()])):
                hook, body = mine.webhook, mine.body.encode()
                sending = senders.submit(send_message, hook.url, secret_of(hook.salt), mine.event, str(mine.uid), body)
                under_way[sending] = mine
            if not under_way:
                return
            for over in wait(under_way, return_when=FIRST_COMPLETED).done:
                _keep(under_way.pop(over), over.result())
                sent += 1
            progress.report("sending", sent, sent, "messages")


def _claim(busy: Collection[int] = ()) -> Delivery | None:
    """Return the next message that is due, for this process alone: its next attempt is put off before this one.

    Webhooks that are `busy` with another message are left out.
    """
    now = clock.now()
    due = Delivery.objects.filter(state=DeliveryState.WAITING, due_at__lte=now).exclude(webhook__in=busy)
    while (one := due.select_related("webhook").order_by("due_at", "pk").first()) is not None:
        pause = WAITS[min(one.attempts, len(WAITS) - 1)]
        mine = due.filter(pk=one.pk, attempts=one.attempts)
        if mine.update(attempts=F("attempts") + 1, due_at=now + pause, tried_at=now) == 1:
            one.attempts += 1
            return one
    return None


def _keep(one: Delivery, outcome: Outcome) -> None:
    hook = one.webhook
    over = one.event == TEST or one.attempts >= MOST_ATTEMPTS
    state = DeliveryState.SENT if outcome.arrived else DeliveryState.FAILED if over else DeliveryState.WAITING
    with transaction.atomic():
        # before its messages, as all do who change both
        if not Webhook.objects.select_for_update(no_key=True).filter(pk=one.webhook_id):
            return
        mine = Delivery.objects.filter(pk=one.pk, attempts=one.attempts, state=DeliveryState.WAITING)
        if mine.update(state=state, status=outcome.status, problem=outcome.problem[:300]) != 1:
            return
        _follow(one, outcome, state)
        over_ids = hook.deliveries.exclude(state=DeliveryState.WAITING).order_by("-pk").values_list("pk", flat=True)
        hook.deliveries.filter(pk__in=list(over_ids[KEPT:])).delete()


def _follow(one: Delivery, outcome: Outcome, state: DeliveryState) -> None:
    """Keep count of what was given up in a row; what else waits for an address that does not answer is put off."""
    row = Webhook.objects.filter(pk=one.webhook_id)
    if one.event == TEST:
        return
    if outcome.arrived:
        row.exclude(failures=0).update(failures=0)
        return
    now = clock.now()
    waiting = Delivery.objects.filter(webhook=one.webhook_id, state=DeliveryState.WAITING)
    waiting.filter(due_at__lte=now).update(due_at=now + WAITS[0])
    if state == DeliveryState.FAILED:
        row.update(failures=F("failures") + 1)
        if row.filter(active=True, failures__gte=MOST_FAILURES).update(active=False, stopped_at=now):
            record(None, AnnotationAct.WEBHOOK_SWITCHED, pool=one.webhook.pool, about=one.webhook.host, on=False)
            give_up(one.webhook)


def give_up(hook: Webhook) -> None:
    """End what waits to be sent by a webhook that is switched off."""
    hook.deliveries.filter(state=DeliveryState.WAITING).update(
        state=DeliveryState.FAILED, problem="The webhook was switched off."
    )
