"""Reports and comments, as managers read and answer them."""

import re

import pytest

from annotation.enums import FlagKind
from annotation.messages.flags import answer_flag
from annotation.models import Flag, Label
from annotation.quality.checks import gold_from_pool
from annotation.questions.templates import current_template, save_template
from annotation.views.inbox import ANSWERED_MEANWHILE
from core.models import AuditEntry
from pooling.models import Relation
from pooling.questions.templates import TemplateText
from tests.annotation.factories import label_item, report_of
from tests.page import codes, read

URL = "/pools/p1/campaign/inbox"


def test_empty_inbox_says_where_reports_come_from(world, manager) -> None:
    assert read(manager.get(URL)).has("empty")


def test_report_shows_the_question_as_it_was_shown(world, manager) -> None:
    flag = report_of(world, world.ann, "question", "which Person is meant?")
    save_template(
        Relation.objects.get(key="lived_in"),
        *TemplateText("Did {subject} live at {object}?", "{subject}?", "{object}?"),
    )
    assert current_template(Relation.objects.get(key="lived_in")).version == 2
    page = read(manager.get(URL))
    assert re.fullmatch(r"Has Person \d+ lived in City \d+\?", page.one("question").text)
    assert [page.one(name).text for name in ("kind", "from", "version", "text")] == [
        FlagKind.QUESTION.label,
        "ann",
        "1",
        "which Person is meant?",
    ]
    links = [link["href"] for link in page.one("links").all(tag="a")]
    assert links == ["/pools/p1/questions/0", f"/pools/p1/campaign/triples/{flag.item_id}"]


def test_answer_closes_the_report_and_names_who_answered(world, manager) -> None:
    flag = report_of(world, world.ann)
    url = f"{URL}?state=open&kind=other"
    response = manager.post(url, {"flag": flag.pk, "reply": " It is the elder one. "})
    assert (response.status_code, response["Location"]) == (302, url)
    flag.refresh_from_db()
    assert (flag.reply, flag.replied_by, flag.is_open) == ("It is the elder one.", world.manager, False)
    page = read(manager.get(URL))
    assert (page.texts("replied-by"), page.texts("reply")) == (["manager"], ["It is the elder one."])
    assert not page.has(tag="textarea")
    entry = AuditEntry.objects.get(act="flag-answered")
    assert (entry.person, entry.subject, entry.pool) == (world.manager, world.ann, world.pool)


def test_parked_dispute_is_said_to_wait(world, manager) -> None:
    flag = report_of(world, world.ann, "words", "fix it")
    assert not read(manager.get(URL)).has("waits")
    Flag.objects.filter(pk=flag.pk).update(holds_item=True)
    assert read(manager.get(URL)).has("waits")


@pytest.mark.parametrize(
    ("reply", "code"),
    [("", "required"), ("   ", "required"), ("x" * 2001, "max_length"), ("a\0b", "null_characters_not_allowed")],
)
def test_answer_that_cannot_be_sent_is_kept_on_the_page(world, manager, reply, code) -> None:
    flag = report_of(world, world.ann)
    response = manager.post(URL, {"flag": flag.pk, "reply": reply})
    page = read(response, 422)
    assert codes(response.context["refused"]) == {"reply": [code]} and len(page.errors) == 1
    assert "x" * 2001 in page.one(tag="textarea").text or len(reply) < 2001
    flag.refresh_from_db()
    assert flag.is_open and not AuditEntry.objects.filter(act="flag-answered").exists()


def test_second_answer_does_not_replace_the_first(world, manager) -> None:
    flag = report_of(world, world.ann)
    answer_flag(flag, "first", by=world.manager)
    response = manager.post(URL, {"flag": flag.pk, "reply": "second"})
    page = read(response, 422)
    assert page.errors == [ANSWERED_MEANWHILE.format("manager")]
    assert page.one(tag="textarea").text == "second"
    flag.refresh_from_db()
    assert flag.reply == "first"


@pytest.mark.parametrize("pk", ["", "x", "0", "999999", "9" * 30, "9" * 5000])
def test_unknown_report_is_404(world, manager, pk) -> None:
    assert manager.post(URL, {"flag": pk, "reply": "yes"}).status_code == 404


def test_report_of_another_campaign_is_404(world, manager) -> None:
    from annotation.campaigns.lifecycle import open_campaign
    from tests.annotation.factories import make_pool

    flag = report_of(world, world.ann)
    open_campaign(make_pool(world.pool.graph, "p2"))
    response = manager.post("/pools/p2/campaign/inbox", {"flag": flag.pk, "reply": "yes"})
    assert response.status_code == 404 and Flag.objects.get().is_open


def test_open_reports_come_first_and_can_be_filtered(world, manager) -> None:
    old = report_of(world, world.ann, "other", "one")
    report_of(world, world.ben, "name", "two")
    report_of(world, world.ann, "source", "three")
    answer_flag(old, "done", by=world.manager)
    texts = lambda query: read(manager.get(URL, query)).texts("text")  # noqa: E731
    assert texts({}) == ["two", "three", "one"]
    assert texts({"state": "open"}) == ["two", "three"]
    assert texts({"state": "answered"}) == ["one"]
    assert texts({"kind": "source"}) == ["three"]
    assert texts({"kind": "nonsense", "state": "nonsense"}) == ["two", "three", "one"]


def test_report_of_a_check_leads_to_the_checks(world, manager) -> None:
    gold_from_pool(world.campaign, positives=1, negatives=1)
    world.campaign.gold_percent = 50
    world.campaign.save()
    from annotation.models import Check
    from annotation.quality.checks import claim_questions

    asked = next(found for found in claim_questions(world.campaign, world.ann, 50) if isinstance(found, Check))
    report_of(world, world.ann, asked=asked)
    links = [link["href"] for link in read(manager.get(URL)).one("links").all(tag="a")]
    assert links == ["/pools/p1/questions/0", "/pools/p1/campaign/checks"]


def test_what_people_write_is_text(world, manager) -> None:
    evil = "<script>alert(1)</script> {{ secret }} {% now 'Y' %}"
    flag = report_of(world, world.ann, "other", evil)
    manager.post(URL, {"flag": flag.pk, "reply": f"<b>{evil}</b>"})
    label_item(world, world.campaign.items.last(), ben="?")
    Label.objects.update(comment=evil)
    for page in (URL, f"{URL}?part=comments"):
        html = manager.get(page).content.decode()
        assert "<script>alert" not in html and "<b>" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt; {{ secret }} {% now &#x27;Y&#x27; %}" in html


def test_comments_newest_first_with_filter(world, manager) -> None:
    one, two = world.campaign.items.all()[:2]
    label_item(world, one, ann="Y", ben="?")
    label_item(world, two, ann="N")
    for label, comment in zip(Label.objects.order_by("pk"), ("first", "cannot", ""), strict=True):
        Label.objects.filter(pk=label.pk).update(comment=comment)
    texts = lambda query: read(manager.get(URL, {"part": "comments"} | query)).texts("comment")  # noqa: E731
    assert texts({}) == ["cannot", "first"]
    assert texts({"answer": "?"}) == ["cannot"]
    assert texts({"answer": "N"}) == []


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(world, manager, count, django_assert_num_queries) -> None:
    for person, item in zip((world.ann, world.ben, world.ann), world.campaign.items.all()[:count], strict=False):
        report_of(world, person)
        label_item(world, item, ann="Y")
    manager.get(URL)
    with django_assert_num_queries(6):
        manager.get(URL)
    with django_assert_num_queries(6):
        manager.get(f"{URL}?part=comments")
