"""How messages are sent, tried again and given up, and what webhooks are told of."""

from __future__ import annotations

import json
import logging
import threading
from datetime import timedelta

import pytest
from django.db import transaction

from annotation.campaigns.milestones import tell_of_campaigns
from annotation.campaigns.notices import notices
from annotation.enums import AnnotationAct, AnnotationJob, ItemState, WebhookEvent
from annotation.models import Delivery, Item, Webhook
from annotation.webhooks import deliveries as module
from annotation.webhooks.deliveries import KEPT, MOST_ATTEMPTS, MOST_FAILURES, WAITS, start_due
from annotation.webhooks.events import tell
from annotation.webhooks.upkeep import add_webhook, send_test, switch_webhook
from core import clock
from core.enums import JobState
from core.jobs.execution import do_next
from core.jobs.lifecycle import request_cancel, start_job
from core.models import AuditEntry, Job
from evaluation.labels.qrels import freeze_qrels
from tests.annotation.factories import report_of
from tests.annotation.webhooks.receiver import answer_with


def work() -> None:
    """Do the jobs that wait, as a worker would."""
    while do_next("cpu", "w:1"):
        pass


def pass_time(**time: float) -> None:
    Delivery.objects.update(due_at=clock.now() - timedelta(**time))


def bodies(receiver) -> list[dict]:
    return [json.loads(body) for _, _, body in receiver.got]


def told(receiver) -> list[tuple[str, dict]]:
    return [(body["event"], body["data"]) for body in bodies(receiver)]


def refuse(receiver) -> None:
    receiver.answer = lambda request: answer_with(request, 500)


def an_event(world, **data) -> None:
    with transaction.atomic():
        tell(WebhookEvent.QRELS, world.pool, "/x", **data)


def test_event_is_sent_by_a_job_and_not_before(world, hook, receiver, settings) -> None:
    settings.SITE_URL = "https://pool.example.org"
    an_event(world, n=1)
    assert receiver.got == []
    work()
    (body,) = bodies(receiver)
    one = Delivery.objects.get()
    assert body == {
        "id": str(one.uid),
        "event": "qrels-frozen",
        "at": body["at"],
        "pool": "p1",
        "url": "https://pool.example.org/x",
        "data": {"n": 1},
    }
    assert (one.state, one.attempts, one.status, one.problem) == ("sent", 1, 204, "")
    assert receiver.got[0][1]["X-TriplePool-Delivery"] == str(one.uid)


def test_event_of_an_act_that_is_undone_is_not_sent(world, hook, receiver) -> None:
    with pytest.raises(RuntimeError), transaction.atomic():
        tell(WebhookEvent.QRELS, world.pool, "/x")
        raise RuntimeError
    work()
    assert (receiver.got, Delivery.objects.count()) == ([], 0)


def test_only_webhooks_of_the_pool_and_the_event_are_told(world, hook, receiver) -> None:
    def add(events, pool, active=True) -> None:
        made, _ = add_webhook(receiver.url.replace("hook", f"{len(seen)}"), events, pool, by=world.manager)
        seen.append(made.pk)
        Webhook.objects.filter(pk=made.pk).update(active=active)

    seen: list[int] = []
    add(["qrels-frozen"], None)
    add(["job-ended"], None)
    add(["qrels-frozen"], world.pool, active=False)
    an_event(world)
    work()
    assert sorted(path for path, _, _ in receiver.got) == ["/0?key=letmein", "/hook?key=letmein"]
    receiver.got.clear()
    with transaction.atomic():
        tell(WebhookEvent.QRELS, None, "/x")
    work()
    assert [path for path, _, _ in receiver.got] == ["/0?key=letmein"]


def test_message_is_tried_again_with_growing_waits_and_then_given_up(world, hook, receiver) -> None:
    refuse(receiver)
    an_event(world)
    waited = []
    for _ in range(MOST_ATTEMPTS + 2):
        began = clock.now()
        work()
        one = Delivery.objects.get()
        waited.append(round((one.due_at - began).total_seconds()) if one.state == "waiting" else 0)
        pass_time(seconds=1)
        start_due()
    assert waited[: MOST_ATTEMPTS - 1] == [round(wait.total_seconds()) for wait in WAITS]
    assert (len(receiver.got), one.state, one.attempts, one.status) == (MOST_ATTEMPTS, "failed", MOST_ATTEMPTS, 500)
    assert list(WAITS) == sorted(set(WAITS))
    hook.refresh_from_db()
    assert (hook.active, hook.failures) == (True, 1)


def test_message_that_waits_is_not_sent_before_its_time(world, hook, receiver) -> None:
    refuse(receiver)
    an_event(world)
    work()
    assert (start_due(), len(receiver.got)) == (False, 1)
    work()
    assert len(receiver.got) == 1
    pass_time(seconds=1)
    assert start_due()
    receiver.answer = lambda request: answer_with(request, 200)
    work()
    one = Delivery.objects.get()
    assert (one.state, one.attempts, one.status, one.problem) == ("sent", 2, 200, "")
    assert receiver.got[0][2] == receiver.got[1][2]


def test_webhook_that_stays_out_of_reach_is_switched_off_and_managers_are_told(world, hook, receiver) -> None:
    refuse(receiver)
    for n in range(MOST_FAILURES + 1):
        an_event(world, n=n)
    while hook.active and len(receiver.got) < 100:
        work()
        pass_time(seconds=1)
        start_due()
        hook.refresh_from_db()
    work()
    assert (hook.active, hook.failures, hook.stopped_at is not None) == (False, MOST_FAILURES, True)
    states = sorted(Delivery.objects.values_list("state", "problem"))
    assert states[-1] == ("failed", "The webhook was switched off.") and len(states) == MOST_FAILURES + 1
    sent = len(receiver.got)
    an_event(world)
    work()
    assert len(receiver.got) == sent
    entry = AuditEntry.objects.filter(act=AnnotationAct.WEBHOOK_SWITCHED).get()
    assert (entry.person, entry.pool, entry.about, entry.details) == (None, world.pool, "127.0.0.1", {"on": False})
    found = [one.path for one in notices(world.manager, clock.now() - timedelta(days=1)) if one.kind == "failed"]
    assert found == [f"/webhooks/{hook.pk}"]
    switch_webhook(hook, True, by=world.manager)
    hook.refresh_from_db()
    assert (hook.active, hook.failures, hook.stopped_at) == (True, 0, None)


def test_message_that_arrives_ends_the_count_of_failures(world, hook, receiver) -> None:
    Webhook.objects.update(failures=MOST_FAILURES - 1)
    an_event(world)
    work()
    hook.refresh_from_db()
    assert hook.failures == 0


def test_test_is_sent_once_also_by_a_webhook_that_is_off(world, hook, receiver) -> None:
    refuse(receiver)
    switch_webhook(hook, False, by=world.manager)
    send_test(hook)
    work()
    hook.refresh_from_db()
    one = Delivery.objects.get()
    assert (told(receiver), one.state, hook.failures) == ([("test", {"message": "This is a test."})], "failed", 0)


def test_receiver_that_hangs_holds_up_no_other_and_gets_one_message_at_a_time(world, hook, receiver) -> None:
    arrived = threading.Event()
    waited = []

    def answer(request) -> None:
        if request.path.startswith("/hook"):
            waited.append(arrived.wait(5))
        else:
            arrived.set()
        answer_with(request, 200)

    receiver.answer = answer
    an_event(world, n=1)
    an_event(world, n=2)
    add_webhook(receiver.url.replace("hook", "other"), WebhookEvent.values, world.pool, by=world.manager)
    an_event(world, n=3)
    work()
    assert waited == [True, True, True]
    got = [(path[:5], json.loads(body)["data"]["n"]) for path, _, body in receiver.got]
    assert [n for path, n in got if path == "/hook"] == [1, 2, 3]
    assert got.index(("/othe", 3)) < 2  # before the second message to the one that hangs
    assert set(Delivery.objects.values_list("state", "attempts")) == {("sent", 1)}


def test_two_workers_send_a_message_once(world, hook) -> None:
    an_event(world)
    first, second = module._claim(), module._claim()
    assert first is not None and (first.attempts, second) == (1, None)


def test_worker_that_dies_while_it_sends_leaves_the_message_to_the_next_attempt(world, hook, receiver) -> None:
    an_event(world)
    module._claim()
    Job.objects.filter(kind=AnnotationJob.SEND_WEBHOOKS).delete()
    assert not start_due()
    pass_time(seconds=1)
    assert start_due()
    work()
    assert (len(receiver.got), Delivery.objects.get().attempts) == (1, 2)


def test_only_the_last_messages_and_one_job_are_kept(world, hook, receiver) -> None:
    for n in range(KEPT + 5):
        an_event(world, n=n)
        if n % 20 == 0:
            work()
    work()
    assert hook.deliveries.count() == KEPT
    assert json.loads(hook.deliveries.last().body)["data"] == {"n": 5}
    assert Job.objects.filter(kind=AnnotationJob.SEND_WEBHOOKS).count() == 1


def test_no_secret_and_no_path_is_in_log_audit_or_message(world, hook, receiver, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    refuse(receiver)
    an_event(world)
    work()
    from annotation.webhooks.signing import secret_of

    said = caplog.text + str(list(AuditEntry.objects.values())) + str(list(Job.objects.values()))
    said += receiver.got[0][2].decode() + str(list(Delivery.objects.values("problem")))
    assert secret_of(hook.salt) not in said and "letmein" not in said
    assert secret_of(hook.salt) not in str(list(Webhook.objects.values()))


# -- events --------------------------------------------------------------------------------------------------


def test_jobs_are_told_when_they_end_and_the_sending_one_is_not(world, hook, receiver, monkeypatch) -> None:
    from core.jobs import registry

    done = start_job(AnnotationJob.RELEASE, pool=world.pool)
    monkeypatch.setitem(registry.HANDLERS, AnnotationJob.RELEASE, lambda job, progress: None)
    work()
    cancelled = start_job(AnnotationJob.OPEN_CAMPAIGN, pool=world.pool)
    request_cancel(cancelled)
    work()
    monkeypatch.setitem(registry.HANDLERS, AnnotationJob.OPEN_CAMPAIGN, lambda job, progress: 1 / 0)
    failed = start_job(AnnotationJob.OPEN_CAMPAIGN, pool=world.pool)
    work()
    assert [(event, data["job"], data["state"]) for event, data in told(receiver)] == [
        ("job-ended", done.pk, "done"),
        ("job-ended", cancelled.pk, "cancelled"),
        ("job-ended", failed.pk, "failed"),
    ]
    assert Job.objects.filter(kind=AnnotationJob.SEND_WEBHOOKS, state=JobState.DONE).exists()


def test_report_is_told_without_who_and_what(world, hook, receiver) -> None:
    report_of(world, world.ann, "name", "who on earth?")
    work()
    assert told(receiver) == [("report", {"kind": "name"})]
    assert "who on earth" not in str(receiver.got) and "ann" not in str(bodies(receiver)[0]["data"])


def test_frozen_qrels_are_told(world, hook, receiver) -> None:
    freeze_qrels(world.pool, "first")
    work()
    ((event, data),) = told(receiver)
    assert (event, data["qrels"], data["counts"]["positive"]) == ("qrels-frozen", "first", 1)


def settle(count: int) -> None:
    Item.objects.update(state=ItemState.OPEN)
    chosen = Item.objects.order_by("pk").values_list("pk", flat=True)[:count]
    Item.objects.filter(pk__in=list(chosen)).update(state=ItemState.SETTLED)


def test_each_tenth_of_the_items_is_told_once_and_what_was_there_before_is_not(world, hook, receiver) -> None:
    Webhook.objects.update(events=["items-settled"])
    seen = []
    for count in (1, 1, 2, 2, 1, 2, 6, 6):
        settle(count)
        tell_of_campaigns()
        work()
        seen.append([data for _, data in told(receiver)])
        receiver.got.clear()
    two, six = ({"percent": p, "settled": n, "items": 6} for p, n in ((30, 2), (100, 6)))
    assert seen == [[], [], [two], [], [], [], [six], []]


def test_campaign_that_stalls_is_told_once(world, hook, receiver) -> None:
    Webhook.objects.update(events=["campaign-stalled"])
    now = clock.now()
    for days in (0, 0, 4, 4, 5):
        tell_of_campaigns(now + timedelta(days=days))
    work()
    assert told(receiver) == [("campaign-stalled", {"days": 3, "items": 6, "settled": 0})]
