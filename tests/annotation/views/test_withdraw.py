"""Taking back the labels of a person: the preview, the typed name, and what happens."""

import pytest

from annotation.labelling.queue import claim_disputed
from annotation.labelling.withdraw import Withdrawal
from annotation.models import Item, Label, Membership, Slot
from annotation.views import told
from core.models import AuditEntry
from tests.annotation.factories import answer, label_item, windows_closed
from tests.page import Element, numbers, read


def url(person) -> str:
    return f"/pools/p1/campaign/withdraw/{person.pk}"


def figures(page: Element) -> list[int]:
    """Return labels, reopened, to adjudicate, judgements, positive and negative of these, and held, in this order."""
    keys = ("labels", "reopened", "to_adjudicate", "judgements", "positive", "negative", "held")
    assert tuple(key for key in page.figures if key != "work") == keys
    return [int(page.figures[key]) for key in keys]


@pytest.fixture
def labelled(world) -> list[Item]:
    """Ann: one settled positive, one disputed; ben as well. Ada decided the dispute, negative."""
    one, two = world.campaign.items.order_by("order")[:2]
    label_item(world, one, ann="Y", ben="Y")
    label_item(world, two, ann="Y", ben="N")
    windows_closed(two)
    answer(world.ada, claim_disputed(world.campaign, world.ada)[0], "N")
    return [one, two]


def test_preview_tells_what_follows_and_changes_nothing(world, manager, labelled) -> None:
    held = Slot.objects.filter(annotator=world.ann, state="leased").count()
    page = read(manager.get(url(world.ann)))
    assert figures(page) == [2, 2, 0, 2, 1, 1, held]
    assert figures(read(manager.get(url(world.ada)))) == [1, 0, 1, 1, 0, 1, 0]
    assert page.has("warning")
    assert Item.objects.filter(state="settled").count() == 2


def test_labels_are_taken_back_and_the_page_says_what_happened(world, manager, labelled) -> None:
    held = Slot.objects.filter(annotator=world.ann, state="leased").count()
    response = manager.post(url(world.ann), {"reason": "guessed", "typed": "ann"})
    assert (response.status_code, response["Location"]) == (302, url(world.ann))
    assert [Item.objects.get(pk=item.pk).state for item in labelled] == ["open", "open"]
    assert Slot.objects.filter(annotator=world.ann, state="withdrawn").count() == 2
    assert not Slot.objects.filter(annotator=world.ann, state="leased").exists()
    entry = AuditEntry.objects.get(act="labels-withdrawn")
    assert (entry.person, entry.subject, entry.pool) == (world.manager, world.ann, world.pool)
    assert entry.details == {"reason": "guessed", "judgements": 2}
    page = read(manager.get(url(world.ann)))
    done = Withdrawal(labels=2, reopened=2, to_adjudicate=0, judgements=2, positive=1, negative=1, held=held)
    assert page.messages == [told.labels_withdrawn(world.ann, done)]
    assert page.has("empty")


def test_preview_tells_who_can_answer_and_what_nobody_can(world, manager, labelled, monkeypatch) -> None:
    monkeypatch.setattr("annotation.campaigns.overview.FEW", 1)
    Label.objects.update(active_ms=90_000)
    page = read(manager.get(url(world.ann)))
    # ben had both items, ada decided one: cleo can answer both, and each wants one label more
    assert [row.text for row in page.all("able")] == ["cleo 2", "ada 1"]
    assert not page.has("short") and not page.has("judges") and page.figures["work"] == "3 min 00 s"
    Membership.objects.filter(person__in=[world.ada, world.cleo]).delete()
    page = read(manager.get(url(world.ann)))
    assert page.has("nobody") and numbers(page.one("short").text) == ["2", "2"]
    page = read(manager.get(url(world.ada)))
    assert numbers(page.one("short-disputes").text) == ["1", "1"] and numbers(page.one("judges").text) == ["1", "0"]


@pytest.mark.parametrize(
    "asked",
    [
        {"reason": "x", "typed": "Ann"}, {"reason": "x", "typed": ""}, {"reason": "x", "typed": "ben"},
        {"reason": "", "typed": "ann"}, {"reason": "x" * 1001, "typed": "ann"}, {"reason": "a\0", "typed": "ann"},
        {"reason": "x", "typed": "<b>ann</b>"}, {},
    ],
)  # fmt: skip
def test_nothing_is_taken_back_without_name_and_reason(world, manager, labelled, asked) -> None:
    response = manager.post(url(world.ann), asked)
    assert read(response).has("refused") and "<b>ann</b>" not in response.content.decode()
    assert Slot.objects.filter(state="withdrawn").count() == 0
    assert not AuditEntry.objects.filter(act="labels-withdrawn").exists()


def test_person_who_left_can_be_withdrawn_and_who_was_never_here_is_404(world, manager, labelled) -> None:
    Membership.objects.filter(person=world.ann).delete()
    page = read(manager.get(url(world.ann)))
    assert page.has("take-back") and page.figures["labels"] == "2" and not page.has("is-member")
    assert manager.get(url(world.stranger)).status_code == 404
    assert manager.post(url(world.stranger), {"reason": "x", "typed": "stranger"}).status_code == 404


@pytest.mark.parametrize("who", ["ann", "ada", "researcher"])
def test_others_may_not(world, as_user, labelled, who) -> None:
    client = as_user(getattr(world, who))
    assert client.get(url(world.ben)).status_code == 403
    assert client.post(url(world.ben), {"reason": "x", "typed": "ben"}).status_code == 403
    assert Slot.objects.filter(state="withdrawn").count() == 0
