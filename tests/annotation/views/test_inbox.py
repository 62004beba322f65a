"""Reports and comments, as managers read and answer them."""

import re

import pytest

from annotation.messages.flags import answer_flag
from annotation.models import Flag, Label
from annotation.quality.checks import gold_from_pool
from annotation.questions.templates import current_template, save_template
from core.models import AuditEntry
from pooling.models import Relation
from pooling.questions.templates import TemplateText
from tests.annotation.flags import report_of
from tests.annotation.world import label_item

URL = "/pools/p1/campaign/inbox"


@pytest.fixture
def manager(world, as_user):
    return as_user(world.manager)


def questions(html: str) -> list[str]:
    return re.findall(r'<h2 class="large break" id="q\d+">([^<]*)</h2>', html)


def test_empty_inbox_says_where_reports_come_from(world, manager) -> None:
    assert "Annotators report a question with the key F." in manager.get(URL).content.decode()


def test_report_shows_the_question_as_it_was_shown(world, manager) -> None:
    flag = report_of(world, world.ann, "question", "which Person is meant?")
    save_template(
        Relation.objects.get(key="lived_in"),
        *TemplateText("Did {subject} live at {object}?", "{subject}?", "{object}?"),
    )
    assert current_template(Relation.objects.get(key="lived_in")).version == 2
    html = manager.get(URL).content.decode()
    (question,) = questions(html)
    assert re.fullmatch(r"Has Person \d+ lived in City \d+\?", question)
    assert "The question makes no sense · ann ·" in html and "question of version 1" in html
    assert "which Person is meant?" in html
    links = re.findall(r'<p class="small row"><a href="([^"]*)">.*?<a href="([^"]*)">', html, re.DOTALL)
    assert links == [("/pools/p1/questions/0", f"/pools/p1/campaign/triples/{flag.item_id}")]


def test_answer_closes_the_report_and_names_who_answered(world, manager) -> None:
    flag = report_of(world, world.ann)
    url = f"{URL}?state=open&kind=other"
    response = manager.post(url, {"flag": flag.pk, "reply": " It is the elder one. "})
    assert (response.status_code, response["Location"]) == (302, url)
    flag.refresh_from_db()
    assert (flag.reply, flag.replied_by, flag.is_open) == ("It is the elder one.", world.manager, False)
    html = manager.get(URL).content.decode()
    assert "answered by manager," in html and "It is the elder one." in html and "Send answer" not in html
    entry = AuditEntry.objects.get(act="flag-answered")
    assert (entry.person, entry.subject, entry.pool) == (world.manager, world.ann, world.pool)


def test_parked_dispute_is_said_to_wait(world, manager) -> None:
    flag = report_of(world, world.ann, "words", "fix it")
    assert "the dispute waits for your answer" not in manager.get(URL).content.decode()
    Flag.objects.filter(pk=flag.pk).update(holds_item=True)
    assert "the dispute waits for your answer" in manager.get(URL).content.decode()


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("", "This field is required."),
        ("   ", "This field is required."),
        ("x" * 2001, "at most 2000 characters (it has 2001)"),
        ("a\0b", "Null characters are not allowed."),
    ],
)
def test_answer_that_cannot_be_sent_is_kept_on_the_page(world, manager, reply, message) -> None:
    flag = report_of(world, world.ann)
    response = manager.post(URL, {"flag": flag.pk, "reply": reply})
    html = response.content.decode()
    assert (response.status_code, message in html) == (422, True)
    assert "x" * 2001 in html or len(reply) < 2001
    flag.refresh_from_db()
    assert flag.is_open and not AuditEntry.objects.filter(act="flag-answered").exists()


def test_second_answer_does_not_replace_the_first(world, manager) -> None:
    flag = report_of(world, world.ann)
    answer_flag(flag, "first", by=world.manager)
    response = manager.post(URL, {"flag": flag.pk, "reply": "second"})
    html = response.content.decode()
    assert response.status_code == 422
    assert "manager has answered meanwhile: that answer stays, and yours was not sent." in html
    assert ">second</textarea>" in re.sub(r">\s+", ">", html)
    flag.refresh_from_db()
    assert flag.reply == "first"


@pytest.mark.parametrize("pk", ["", "x", "0", "999999", "9" * 30])
def test_unknown_report_is_404(world, manager, pk) -> None:
    assert manager.post(URL, {"flag": pk, "reply": "yes"}).status_code == 404


def test_report_of_another_campaign_is_404(world, manager) -> None:
    from annotation.campaigns.opening import open_campaign
    from tests.annotation.world import make_pool

    flag = report_of(world, world.ann)
    open_campaign(make_pool(world.pool.graph, "p2"))
    response = manager.post("/pools/p2/campaign/inbox", {"flag": flag.pk, "reply": "yes"})
    assert response.status_code == 404 and Flag.objects.get().is_open


def test_open_reports_come_first_and_can_be_filtered(world, manager) -> None:
    old = report_of(world, world.ann, "other", "one")
    report_of(world, world.ben, "name", "two")
    report_of(world, world.ann, "source", "three")
    answer_flag(old, "done", by=world.manager)
    texts = lambda query: re.findall(  # noqa: E731
        r'<blockquote class="lines break">(one|two|three)</blockquote>', manager.get(URL, query).content.decode()
    )
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
    html = manager.get(URL).content.decode()
    assert '<a href="/pools/p1/campaign/checks">The answer is known: see checks</a>' in html


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
    texts = lambda query: re.findall(  # noqa: E731
        r'<td class="lines break">(\w+)</td>', manager.get(URL, {"part": "comments"} | query).content.decode()
    )
    assert texts({}) == ["cannot", "first"]
    assert texts({"answer": "?"}) == ["cannot"]
    assert texts({"answer": "N"}) == []


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(world, manager, count, django_assert_num_queries) -> None:
    for person, item in zip((world.ann, world.ben, world.ann), world.campaign.items.all()[:count], strict=False):
        report_of(world, person)
        label_item(world, item, ann="Y")
    manager.get(URL)
    with django_assert_num_queries(7):
        manager.get(URL)
    with django_assert_num_queries(7):
        manager.get(f"{URL}?part=comments")
