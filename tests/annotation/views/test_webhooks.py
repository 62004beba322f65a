"""The pages of webhooks."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.enums import AnnotationAct
from annotation.models import Delivery, Webhook
from annotation.views import webhooks as module
from annotation.webhooks.signing import secret_of
from core.models import AuditEntry
from tests.page import read

ADDRESS = "https://93.184.215.14/hook"
ASKED = {"url": ADDRESS, "events": ["report", "job-ended"], "pool": "p1"}


@pytest.fixture(autouse=True)
def allowed(settings) -> None:
    settings.WEBHOOK_HOSTS = ["93.184.215.14", "10.0.0.1"]


@pytest.fixture
def hook(world) -> Webhook:
    return Webhook.objects.create(url=ADDRESS, events=["report"], salt="a" * 32)


def acts() -> list[str]:
    ours = AuditEntry.objects.filter(act__startswith="webhook-").order_by("pk")
    return list(ours.values_list("act", flat=True))


def test_added_webhook_shows_its_secret_once(world, manager) -> None:
    answer = manager.post("/webhooks", ASKED)
    hook = Webhook.objects.get()
    secret = secret_of(hook.salt)
    assert (hook.url, hook.events, hook.pool, hook.created_by) == (
        ADDRESS,
        ["job-ended", "report"],
        world.pool,
        world.manager,
    )
    assert secret in answer.content.decode() and "no-store" in answer["Cache-Control"]
    for page in ("/webhooks", f"/webhooks/{hook.pk}"):
        assert secret not in manager.get(page).content.decode()
    entry = AuditEntry.objects.get(act=AnnotationAct.WEBHOOK_ADDED)
    assert (entry.person, entry.pool, entry.about) == (world.manager, world.pool, "93.184.215.14")


@pytest.mark.parametrize(
    ("wrong", "fields"),
    [
        ({"url": "https://10.0.0.1/"}, "__all__"),  # only a look-up says so
        ({"url": "https://other.example.org/"}, "url"),
        ({"url": "https://other.example.org/", "events": []}, "url events"),
        ({"url": ""}, "url"),
        ({"events": []}, "events"),
        ({"events": ["everything"]}, "events"),
        ({"pool": "none"}, "pool"),
    ],
)
def test_wrong_webhook_is_refused_at_the_form(world, manager, wrong, fields) -> None:
    answer = manager.post("/webhooks", ASKED | wrong)
    form = answer.context["form"]
    assert (answer.status_code, list(form.errors), Webhook.objects.count()) == (422, fields.split(), 0)


def test_site_without_allowed_hosts_offers_no_form(world, manager, settings) -> None:
    settings.WEBHOOK_HOSTS = []
    page = read(manager.get("/webhooks"))
    assert page.one("not-allowed") and not page.all("none")
    assert manager.post("/webhooks", ASKED).status_code == 422


def test_change_is_checked_as_a_new_one_is(world, manager, hook) -> None:
    page = f"/webhooks/{hook.pk}"
    assert manager.post(page, ASKED | {"act": "change", "url": "https://10.0.0.1/"}).status_code == 422
    hook.refresh_from_db()
    assert hook.url == ADDRESS
    assert manager.post(page, ASKED | {"act": "change", "url": f"{ADDRESS}/2"}).status_code == 302
    hook.refresh_from_db()
    assert (hook.url, hook.events, hook.pool) == (f"{ADDRESS}/2", ["job-ended", "report"], world.pool)
    assert acts() == [AnnotationAct.WEBHOOK_CHANGED]


def test_acts_on_a_webhook_do_what_they_say_and_are_recorded(world, manager, hook) -> None:
    page = f"/webhooks/{hook.pk}"

    def post(act: str):
        answer = manager.post(page, {"act": act})
        hook.refresh_from_db()
        return answer

    post("off")
    assert not hook.active
    post("on")
    assert hook.active
    before = secret_of(hook.salt)
    answer = post("secret").content.decode()
    assert secret_of(hook.salt) in answer and before not in answer
    post("test")
    assert Delivery.objects.get().event == "test"
    assert manager.post(page, {"act": "remove"})["Location"] == "/webhooks"
    assert Webhook.objects.count() == Delivery.objects.count() == 0
    assert acts() == [
        AnnotationAct.WEBHOOK_SWITCHED,
        AnnotationAct.WEBHOOK_SWITCHED,
        AnnotationAct.WEBHOOK_SECRET,
        AnnotationAct.WEBHOOK_REMOVED,
    ]


def test_page_lists_the_last_messages(world, manager, hook) -> None:
    for n in range(module.SHOWN + 3):
        Delivery.objects.create(
            webhook=hook, event="report", body="{}", due_at=timezone.now(), problem=f"problem {n}", state="failed"
        )
    rows = read(manager.get(f"/webhooks/{hook.pk}")).one("deliveries").rows
    assert [row[-1] for row in rows] == [f"problem {n}" for n in range(module.SHOWN + 2, 2, -1)]


@pytest.mark.parametrize("act", [{"act": "change", **ASKED}, {"act": "secret"}, {"act": "remove"}, {"act": "test"}])
def test_act_on_a_webhook_that_somebody_removed_meanwhile_is_refused(world, manager, hook, monkeypatch, act) -> None:
    monkeypatch.setattr(module, "get_object_or_404", lambda *_, pk: hook)  # read before
    Webhook.objects.all().delete()
    page = manager.post(f"/webhooks/{hook.pk}", act)
    assert page.status_code < 500 and b"whsec_" not in page.content
    assert (acts(), Delivery.objects.count()) == ([], 0)
