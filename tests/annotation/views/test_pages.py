"""Pages of annotators and adjudicators, as everybody; and imported text, which is shown as text."""

import json
import re
from datetime import timedelta
from itertools import groupby
from uuid import uuid4

import pytest
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.own_labels import own_progress
from annotation.labelling.queue import claim_disputed
from annotation.labelling.submit import TOO_LATE, change
from annotation.models import Campaign, CheckLabel, Flag, Label
from annotation.people.accounts import take_role
from core.people.languages import choose_language
from tests.annotation.factories import (
    LINK,
    answer,
    label_and_release,
    label_item,
    make_check,
    make_gold,
    make_pool,
    windows_closed,
)
from tests.page import read, refusal

PAGES = ("annotate", "labels", "adjudicate", "guidelines")


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        ("nobody", [302, 302, 302, 302]),
        ("stranger", [404, 404, 404, 404]),
        ("ann", [200, 200, 403, 200]),
        ("ada", [200, 200, 200, 200]),
        ("manager", [403, 403, 403, 200]),
        ("researcher", [403, 403, 403, 200]),
    ],
)
def test_every_page_as_everybody(world, as_user, who, expected) -> None:
    client = as_user(getattr(world, who, None))
    assert [client.get(f"/campaigns/p1/{page}").status_code for page in PAGES] == expected
    assert client.get("/campaigns/other/annotate").status_code == (302 if who == "nobody" else 404)


@pytest.mark.parametrize("page", ["annotate", "adjudicate"])
def test_loop_page_tells_its_script_where_to_go_and_no_more(world, as_user, page) -> None:
    html = as_user(world.ada).get(f"/campaigns/p1/{page}").content.decode()
    config = json.loads(read(html).one(tag="script", id="config").text)
    more = {"first"} if page == "adjudicate" else set()
    known = {"person", "pool", "role", "evidence_rule", "guidelines_version", "guidelines_read"}
    assert set(config) == known | {"undo_minutes", "undo_answers", "urls"} | more
    assert set(config["urls"]) == {
        "claim",
        "submit",
        "change",
        "renew",
        "release",
        "progress",
        "flag",
        "give_back",
        "messages",
        "labels",
        "guidelines",
        "login",
    }
    assert config["urls"]["change"] == "/api/v1/labels/{label}/change"
    assert "secret-system" not in html


@pytest.mark.parametrize("page", PAGES)
def test_no_inline_script_or_style(world, as_user, page) -> None:
    html = as_user(world.ada).get(f"/campaigns/p1/{page}").content.decode()
    scripts = re.findall(r"<script(?![^>]*(?:src=|application/json))", html)
    assert (scripts, re.findall(r"<style|\sstyle=|\son\w+=", html)) == ([], [])


def test_my_labels_shows_own_labels_and_changes_them(world, as_user) -> None:
    item = world.campaign.items.first()
    label_item(world, item, ben="N", ann="Y")
    Label.objects.filter(annotator=world.ann).update(comment="<b>bold</b>")
    client = as_user(world.ann)
    html = client.get("/campaigns/p1/labels").content.decode()
    assert read(html).one("label").texts("comment") == ["<b>bold</b>"]
    label = Label.objects.get(annotator=world.ann)
    form = {
        "label": str(label.client_id),
        "client_id": str(uuid4()),
        "answer": "N",
        "source_url": "https://evil.example/",
    }
    response = client.post("/campaigns/p1/labels", form)
    label_of_ann = Label.objects.get(annotator=world.ann)
    why = refusal(lambda: change(world.ann, label_of_ann.client_id, GivenAnswer(uuid4(), "N", "https://evil.example/")))
    refused = read(response, 422)
    assert refused.texts(tag="div", role="alert") == why
    hosts = [source.host for source in world.campaign.sources.order_by("pk")]
    assert [host.text for host in refused.one("hosts").all(tag="li")] == hosts
    assert "Yes" in refused.texts(tag="label")
    response = client.post("/campaigns/p1/labels", form | {"source_url": LINK})
    assert (response.status_code, response["Location"]) == (302, "/campaigns/p1/labels")
    assert Label.objects.get(annotator=world.ann, superseded_by=None).answer == "N"


def test_a_change_to_cant_tell_needs_a_reason_as_the_answer_does(world, as_user) -> None:
    label_item(world, world.campaign.items.first(), ben="N", ann="Y")
    client, label = as_user(world.ann), Label.objects.get(annotator=world.ann)
    form = {"label": label.client_id, "client_id": uuid4(), "answer": "?", "source_url": "", "comment": "  "}
    assert "Say in a few words why you can’t tell." in read(client.post("/campaigns/p1/labels", form), 422).text
    assert client.post("/campaigns/p1/labels", form | {"comment": "no source says it"}).status_code == 302
    assert Label.objects.get(annotator=world.ann, superseded_by=None).comment == "no source says it"


def test_my_labels_shows_and_changes_the_reason_of_a_decision(world, as_user) -> None:
    first, second = world.campaign.items.all()[:2]
    label_and_release(world, first, ann="Y", ben="N")
    label_item(world, second, ada="Y")
    windows_closed(first)
    answer(world.ada, claim_disputed(world.campaign, world.ada)[0], "Y", cause="dated", comment="")
    client = as_user(world.ada)
    decision, own = read(client.get("/campaigns/p1/labels")).all("label")  # the newest first
    assert decision.has("cause") and not own.has("cause")
    assert decision.has(tag="select", name="cause") and not own.has(tag="select", name="cause")
    label = Label.objects.get(slot__number=3)
    form = {"label": str(label.client_id), "client_id": str(uuid4()), "answer": "N", "source_url": LINK}
    assert client.post("/campaigns/p1/labels", form | {"cause": ""}).status_code == 422
    assert client.post("/campaigns/p1/labels", form | {"cause": "misread"}).status_code == 302
    changed = Label.objects.get(slot__number=3, superseded_by=None)
    assert (changed.answer, changed.cause) == ("N", "misread")


def test_label_that_can_no_longer_be_changed_is_reported_from_its_place(world, as_user) -> None:
    item = world.campaign.items.first()
    label_item(world, item, ann="Y")
    check = make_check(world, world.ann, "N", gold=make_gold(world, 3))
    check.template = CheckLabel.objects.get().template
    check.save()
    client, url = as_user(world.ann), "/campaigns/p1/labels"
    assert not read(client.get(url)).has("report")
    for kind in (Label, CheckLabel):
        kind.objects.update(created_at=timezone.now() - timedelta(days=1))
    assert len(read(client.get(url)).all("report")) == 2  # a check like a slot
    for label, asked in ((Label.objects.get(), (item, None)), (CheckLabel.objects.get(), (None, check))):
        form = {"act": "report", "label": str(label.client_id), "client_id": str(uuid4())}
        refused = read(client.post(url, form | {"text": " "}), 422)
        assert [one["open"] for one in refused.all("report") if "open" in one] == [""]
        assert client.post(url, form | {"text": "I mixed up two cities."})["Location"] == url
        flag = Flag.objects.latest("pk")
        assert (flag.person, flag.kind, flag.text) == (world.ann, "other", "I mixed up two cities.")
        assert (flag.item, flag.check_item) == asked
        assert as_user(world.ben).post(url, form | {"text": "not mine"}).status_code == 404
    assert Flag.objects.count() == 2


def test_label_of_somebody_else_is_not_changed_through_the_page(world, as_user) -> None:
    label_item(world, world.campaign.items.first(), ben="N")
    label = Label.objects.get()
    form = {"label": str(label.client_id), "client_id": str(uuid4()), "answer": "Y", "source_url": LINK}
    assert as_user(world.ann).post("/campaigns/p1/labels", form).status_code == 404


def test_who_left_a_campaign_changes_no_label_of_it_through_the_page_of_another(world, as_user) -> None:
    label_item(world, world.campaign.items.first(), ann="N")
    label = Label.objects.get()
    other = open_campaign(make_pool(world.pool.graph, "p2"), seed=1)
    other.members.create(person=world.ann, role="annotator", consented_at=timezone.now())
    form = {"label": str(label.client_id), "client_id": str(uuid4()), "answer": "Y", "source_url": LINK}
    assert as_user(world.ann).post("/campaigns/p2/labels", form).status_code == 404  # also while they are a member
    take_role(world.ann, "annotator", world.campaign)
    for pool in ("p1", "p2"):
        assert as_user(world.ann).post(f"/campaigns/{pool}/labels", form).status_code == 404
    assert Label.objects.get().answer == "N"


def test_who_adjudicates_no_more_changes_no_decision(world, as_user) -> None:
    first = world.campaign.items.first()
    label_and_release(world, first, ann="Y", ben="N")
    windows_closed(first)
    answer(world.ada, claim_disputed(world.campaign, world.ada)[0], "Y", cause="dated", comment="")
    take_role(world.ada, "adjudicator", world.campaign)
    world.campaign.members.create(person=world.ada, role="annotator", consented_at=timezone.now())
    label = Label.objects.get(slot__number=3)
    form = {"label": str(label.client_id), "client_id": str(uuid4()), "answer": "N", "source_url": LINK}
    assert as_user(world.ada).post("/campaigns/p1/labels", form | {"cause": "misread"}).status_code == 404


def test_old_label_has_no_change_form(world, as_user) -> None:
    item = world.campaign.items.first()
    label_item(world, item, ann="N")
    client = as_user(world.ann)
    page = read(client.get("/campaigns/p1/labels"))
    assert page.has("change") and not page.has("fixed")
    windows_closed(item)
    page = read(client.get("/campaigns/p1/labels"))
    assert page.has("fixed") and not page.has("change")


def test_change_that_comes_too_late_says_why_at_its_row_and_keeps_what_was_typed(world, as_user) -> None:
    item, other = world.campaign.items.all()[:2]
    label_item(world, item, ann="N")
    label_item(world, other, ann="N")
    label = Label.objects.get(annotator=world.ann, item=item)
    windows_closed(item)
    form = {"label": str(label.client_id), "client_id": str(uuid4()), "answer": "N", "comment": "so I think"}
    response = as_user(world.ann).post("/campaigns/p1/labels", form)
    page = read(response, 422)
    (row,) = [row for row in page.all("label") if row.has(tag="div", role="alert")]
    assert row.texts(tag="div", role="alert") == [str(TOO_LATE)] and row["id"] == f"label-{label.client_id}"
    assert row.one(tag="input", name="comment")["value"] == "so I think"
    assert "open" in row.one("change") and row.has("typed") and not row.one("change").has(tag="button")
    assert not row.has("until")
    assert [page.has(tag="button", type="submit"), len(page.all("until"))] == [True, 1]  # the other label's


def test_change_of_a_label_that_was_changed_meanwhile_is_refused_above_the_list(world, as_user) -> None:
    label_item(world, world.campaign.items.first(), ann="N")
    label = Label.objects.get()
    change(world.ann, label.client_id, GivenAnswer(uuid4(), "Y", LINK))
    form = {
        "label": str(label.client_id),
        "client_id": str(uuid4()),
        "answer": "N",
        "source_url": "https://evil.example/",
    }
    page = read(as_user(world.ann).post("/campaigns/p1/labels", form), 422)
    assert page.has(tag="div", role="alert") and not page.one("label").has(tag="div", role="alert")


def test_my_labels_says_how_long_a_label_can_be_changed(world, as_user) -> None:
    label_item(world, world.campaign.items.first(), ann="N")
    made = timezone.now() - timedelta(minutes=12, seconds=30)
    Label.objects.update(created_at=made)
    told = read(as_user(world.ann).get("/campaigns/p1/labels")).one("until").text
    assert re.findall(r"\d+", told) == ["3", *(made + timedelta(minutes=15)).strftime("%H %M").split()]


@pytest.mark.parametrize("labels", [1, 3])
def test_queries_of_my_labels_do_not_grow(world, as_user, labels, django_assert_num_queries) -> None:
    for item in world.campaign.items.all()[:labels]:
        label_item(world, item, ann="Y")
    client = as_user(world.ann)
    client.get("/campaigns/p1/labels")
    with django_assert_num_queries(10):
        client.get("/campaigns/p1/labels")


def test_own_labels_offer_adjudication_first_while_disputes_wait(world, as_user) -> None:
    item = world.campaign.items.first()
    label_item(world, item, ann="Y", ben="N")

    def first(person) -> str:
        return read(as_user(person).get("/campaigns/p1/labels").content.decode()).one(tag="a", class_="button-primary")[
            "href"
        ]

    assert first(world.ada) == first(world.ann) == "/campaigns/p1/annotate"  # the labels can still be changed
    windows_closed(item)
    assert first(world.ada) == "/campaigns/p1/adjudicate" and first(world.ann) == "/campaigns/p1/annotate"


def test_home_says_how_many_questions_are_left_for_oneself(world, as_user) -> None:
    def left() -> str:
        return read(as_user(world.ann).get("/").content.decode()).one(test="left").one(tag="dd").text.strip()

    assert left() == "6"
    label_item(world, world.campaign.items.first(), ann="Y")
    assert left() == "5"


@pytest.mark.parametrize("num_assigned", [0, 1, 2])
def test_home_says_how_many_questions_were_assigned(world, as_user, num_assigned: int) -> None:
    items = list(world.campaign.items.order_by("order"))
    first, second = (list(group) for _, group in groupby(items, lambda item: item.group))
    items[-1].assigned_to.add(world.ben)
    for item in [*first[:2], second[0]][: num_assigned + 1 if num_assigned else 0]:
        item.assigned_to.add(world.ann)
    page = read(as_user(world.ann).get("/").content.decode())
    assert page.has("asked-first") == bool(num_assigned)
    if num_assigned:
        (entry,) = own_progress(world.ann)
        assert (entry.first, page.one(test="asked-first").text.split()[0]) == (
            num_assigned,
            ["One", "2"][num_assigned - 1],
        )
        for item in first:
            assert own_progress(world.ann)[0].first == num_assigned
            label_item(world, item, ann="Y")
        assert own_progress(world.ann)[0].first == num_assigned - 1


@pytest.mark.parametrize("language", ["es", ""])
def test_what_managers_wrote_has_the_language_of_the_campaign_on_a_german_page(world, as_user, language) -> None:
    """An empty one says that the language is not known; nothing of it claims to be German."""
    Campaign.objects.update(language=language)
    choose_language(world.ada, "de")
    own, item = world.campaign.items.all()[:2]
    label_and_release(world, own, ada="Y")
    label_and_release(world, item, ann="Y", ben="N")
    windows_closed(item)
    client = as_user(world.ada)

    def spoken(path: str, *marks: str) -> list[str]:
        page = read(client.get(f"/campaigns/p1/{path}"))
        assert page.one(tag="html")["lang"] == "de"
        found = {
            mark: [one["lang"] for one in page.walk() if mark in one.attrs or one.attrs.get("class") == mark]
            for mark in marks
        }
        assert all(found.values()), found
        return sorted({lang for langs in found.values() for lang in langs})

    cards = ("entity-cards", "data-question", "data-group")
    for path, marks in {
        "annotate": (*cards, "data-fixed-card", "data-candidate", "data-card", "data-flag-question"),
        "adjudicate": (*cards, "data-candidate", "data-return-question"),
        "disputes": ("dispute-link",),
    }.items():
        assert spoken(path, *marks) == [language], path
    for path, test in (("guidelines", "guidelines"), ("consent", "text")):
        assert read(client.get(f"/campaigns/p1/{path}")).one(test)["lang"] == language
    label = read(client.get("/campaigns/p1/labels")).one("label")
    assert label.one(tag="strong")["lang"] == language
