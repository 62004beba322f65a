"""The guidelines: the page that everybody reads, and the page on which a manager writes them."""

from __future__ import annotations

import re

import pytest
from django.http import HttpResponse

from annotation.messages.guidelines import EMPTY, MAX_LENGTH, save_guidelines, version_read
from annotation.models import GuidelineVersion
from annotation.views import told
from tests.annotation.factories import label_item
from tests.page import Element, codes, read, refusal

READ = "/campaigns/p1/guidelines"
WRITE = "/pools/p1/campaign/guidelines"
NASTY = "<script>alert(1)</script> {{ secret }} {% now 'Y' %} [a](javascript:alert(1)) ![x](data:image/png,x)"


def text_of(response: HttpResponse) -> str:
    assert response.status_code == 200
    return response.content.decode()


def rows(page: Element) -> list[tuple[str, str]]:
    """Return each version and how many labels were given under it."""
    return [(row[0], row[3]) for row in page.one("versions").rows]


# -- reading -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["ann", "ada", "researcher", "manager"])
def test_every_member_reads_the_newest_version(world, as_user, who: str) -> None:
    save_guidelines(world.campaign, "# Rules\n**Now.**", by=world.manager)
    response = as_user(getattr(world, who)).get(READ)
    page = read(response)
    assert page.one("version").text == "2"
    assert response.context["html"] == "<h3>Rules</h3>\n<p><strong>Now.</strong></p>\n"
    assert [one.text for one in page.one("guidelines").elements] == ["Rules", "Now."]
    assert page.has(tag="a", href=f"{READ}?version=2&since=1")
    assert page.has(tag="a", href=WRITE) == (who == "manager")


def test_who_opens_the_page_has_read_that_version(world, as_user) -> None:
    save_guidelines(world.campaign, "# Rules", by=world.manager)
    client = as_user(world.ann)
    assert version_read(world.ann, world.campaign) == 0
    client.get(READ, {"version": "1"})
    assert version_read(world.ann, world.campaign) == 1
    client.get(READ)
    client.get(READ, {"version": "1"})
    assert version_read(world.ann, world.campaign) == 2
    assert version_read(world.ada, world.campaign) == 0
    as_user(world.manager).get(READ)  # no member
    assert version_read(world.manager, world.campaign) == 0


def test_old_version_and_what_changed_since(world, as_user) -> None:
    first = GuidelineVersion.objects.get().text
    save_guidelines(world.campaign, first.replace("Paste its address.", "Paste <b>it</b>."), by=world.manager)
    client = as_user(world.ann)
    old = read(client.get(READ, {"version": "1"}))
    assert "Paste its address." in old.one("guidelines").text and old.has("old")
    assert not any("since=" in link["href"] for link in old.all(tag="a"))
    page = read(client.get(READ, {"version": "2", "since": "1"}))
    lines = [(one["class"], *(part.text for part in one.elements)) for one in page.one(class_="difference").elements]
    assert [line for line in lines if line[0] in ("line-came", "line-went")] == [
        ("line-went", "−", "3. Paste its address."),
        ("line-came", "+", "3. Paste <b>it</b>."),
    ]
    assert read(client.get(READ, {"version": "2", "since": "2"})).has("same")


def test_annotator_does_not_read_who_wrote_it(world, as_user) -> None:
    save_guidelines(world.campaign, "Text", by=world.manager)
    for query in ({}, {"version": "2", "since": "1"}):
        assert "manager" not in text_of(as_user(world.ann).get(READ, query))


@pytest.mark.parametrize(
    "query", [{"version": "7"}, {"since": "x"}, {"version": "-1"}, {"version": "9" * 18}, {"version": "9" * 5000}]
)
def test_version_that_is_not_there_is_404(world, as_user, query: dict[str, str]) -> None:
    assert as_user(world.ann).get(READ, query).status_code == 404


def test_what_is_nasty_is_text(world, as_user) -> None:
    save_guidelines(world.campaign, NASTY)
    html = text_of(as_user(world.ann).get(READ))
    assert "&lt;script&gt;alert(1)&lt;/script&gt; {{ secret }} {% now 'Y' %}" in html
    assert "[a](javascript:alert(1)) ![x](data:image/png,x)" in html
    assert re.findall(r"<script(?![^>]*src=)", html) == []


def test_loop_has_the_guidelines_at_hand(world, as_user) -> None:
    save_guidelines(world.campaign, "# Rules\nNow.")
    for name, who in (("annotate", world.ann), ("adjudicate", world.ada)):
        response = as_user(who).get(f"/campaigns/p1/{name}")
        assert response.context["guidelines_html"] == "<h3>Rules</h3>\n<p>Now.</p>\n"


def test_campaign_without_guidelines(world, as_user, manager) -> None:
    GuidelineVersion.objects.all().delete()
    assert read(as_user(world.ann).get(READ)).has("empty")
    assert read(manager.get(WRITE)).one("next").text == "1"
    assert as_user(world.ann).get("/campaigns/p1/annotate").context["guidelines_html"] == ""


# -- writing -------------------------------------------------------------------------------------------------


def test_saving_makes_a_version(world, manager) -> None:
    response = manager.post(WRITE, {"text": "# New\r\n\r\ntext", "after": "1"})
    assert (response.status_code, response["Location"]) == (302, WRITE)
    saved = GuidelineVersion.objects.get(version=2)
    assert (saved.text, saved.created_by) == ("# New\n\ntext", world.manager)
    page = read(manager.get(WRITE))
    assert (page.messages, page.one("next").text) == ([told.guidelines_saved(saved, 1)], "3")
    manager.post(WRITE, {"text": "# New\n\ntext", "after": "2"})
    assert read(manager.get(WRITE)).messages == [told.guidelines_saved(saved, 2)]
    assert GuidelineVersion.objects.count() == 2


def test_version_of_somebody_else_is_not_written_over(world, manager) -> None:
    save_guidelines(world.campaign, "theirs")
    page = read(manager.post(WRITE, {"text": "mine </textarea><b>", "after": "1"}))
    assert page.errors == refusal(lambda: save_guidelines(world.campaign, "mine </textarea><b>", after=1))
    assert page.one(tag="textarea").text == "mine </textarea><b>"
    assert page.one(tag="input", name="after")["value"] == "2"  # who saves again has been told
    assert GuidelineVersion.objects.count() == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "required"),
        (" \n ", EMPTY),
        ("x" * (MAX_LENGTH + 1), "max_length"),
        ("a\0b", "null_characters_not_allowed"),
    ],
)
def test_text_that_is_refused(world, manager, text: str, code: str) -> None:
    response = manager.post(WRITE, {"text": text, "after": "1"})
    assert codes(response.context["form"]) == {"text": [code]} and len(read(response).errors) == 1
    assert GuidelineVersion.objects.count() == 1


def test_preview_is_rendered_safely_and_saves_nothing(world, manager) -> None:
    html = text_of(manager.post(f"{WRITE}?part=preview", {"text": f"# T\n{NASTY}", "after": "1"}))
    assert html.startswith("<h3>T</h3>\n<p>&lt;script&gt;alert(1)&lt;/script&gt; {{ secret }}")
    assert re.findall(r"<(?!/?(?:h3|p)>)[^>]*>", html) == []
    response = manager.post(f"{WRITE}?part=preview", {"text": "x" * (MAX_LENGTH + 1), "after": "1"})
    assert codes(response.context["form"]) == {"text": ["max_length"]} and len(read(response).errors) == 1
    assert GuidelineVersion.objects.count() == 1


def test_versions_with_the_labels_given_under_them(world, manager) -> None:
    items = list(world.campaign.items.all()[:2])
    label_item(world, items[0], ann="Y")
    save_guidelines(world.campaign, "second", by=world.manager)
    save_guidelines(world.campaign, "third", by=world.manager)
    label_item(world, items[1], ann="Y")
    page = read(manager.get(WRITE))
    assert rows(page) == [("3", "1"), ("2", "0"), ("1", "1")]
    assert [row[2] for row in page.one("versions").rows] == ["manager", "manager", "–"]
    assert page.has("compare")


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(world, manager, count: int, django_assert_num_queries) -> None:
    for n in range(1, count):
        save_guidelines(world.campaign, f"text {n}", by=world.manager)
    manager.get(WRITE)
    with django_assert_num_queries(9):
        assert len(rows(read(manager.get(WRITE)))) == count
