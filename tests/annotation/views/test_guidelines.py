"""The guidelines: the page that everybody reads, and the page on which a manager writes them."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from annotation.messages.guidelines import MAX_LENGTH, save_guidelines
from annotation.models import GuidelineVersion
from tests.annotation.world import label_item

READ = "/campaigns/p1/guidelines"
WRITE = "/pools/p1/campaign/guidelines"
NASTY = "<script>alert(1)</script> {{ secret }} {% now 'Y' %} [a](javascript:alert(1)) ![x](data:image/png,x)"


@pytest.fixture
def manager(world, as_user) -> Client:
    return as_user(world.manager)


def page(response) -> str:
    assert response.status_code == 200
    return response.content.decode()


def rows(html: str) -> list[tuple[str, str]]:
    return re.findall(r'version=\d+">(\d+)</a></th>.*?<td class="number">(\d+)</td>', html)


# -- reading -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["ann", "ada", "researcher", "manager"])
def test_every_member_reads_the_newest_version(world, as_user, who: str) -> None:
    save_guidelines(world.campaign, "# Rules\n**Now.**", by=world.manager)
    html = page(as_user(getattr(world, who)).get(READ))
    assert "<h2>Version 2</h2>" in html and "<h3>Rules</h3>\n<p><strong>Now.</strong></p>" in html
    assert f'href="{READ}?version=2&amp;since=1"' in html
    assert (f'href="{WRITE}"' in html) == (who == "manager")


def test_old_version_and_what_changed_since(world, as_user) -> None:
    first = GuidelineVersion.objects.get().text
    save_guidelines(world.campaign, first.replace("Paste its address.", "Paste <b>it</b>."), by=world.manager)
    client = as_user(world.ann)
    old = page(client.get(READ, {"version": "1"}))
    assert "Paste its address." in old and "not the newest" in old and "since=" not in old
    html = page(client.get(READ, {"version": "2", "since": "1"}))
    lines = re.findall(r'<li class="(line-came|line-went)"><span>(.)</span><span>([^<]*)</span></li>', html)
    assert lines == [("line-went", "−", "3. Paste its address."), ("line-came", "+", "3. Paste &lt;b&gt;it&lt;/b&gt;.")]
    assert "Nothing: both versions have the same text." in page(client.get(READ, {"version": "2", "since": "2"}))


def test_annotator_does_not_read_who_wrote_it(world, as_user) -> None:
    save_guidelines(world.campaign, "Text", by=world.manager)
    for query in ({}, {"version": "2", "since": "1"}):
        assert "manager" not in page(as_user(world.ann).get(READ, query))


@pytest.mark.parametrize("query", [{"version": "7"}, {"since": "x"}, {"version": "-1"}, {"version": "9" * 30}])
def test_version_that_is_not_there_is_404(world, as_user, query: dict[str, str]) -> None:
    assert as_user(world.ann).get(READ, query).status_code == 404


def test_what_is_nasty_is_text(world, as_user) -> None:
    save_guidelines(world.campaign, NASTY)
    html = page(as_user(world.ann).get(READ))
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
    assert "No guidelines yet" in page(as_user(world.ann).get(READ))
    assert "Save as version 1" in page(manager.get(WRITE))
    assert as_user(world.ann).get("/campaigns/p1/annotate").context["guidelines_html"] == ""


# -- writing -------------------------------------------------------------------------------------------------


def test_saving_makes_a_version(world, manager) -> None:
    response = manager.post(WRITE, {"text": "# New\r\n\r\ntext", "after": "1"})
    assert (response.status_code, response["Location"]) == (302, WRITE)
    saved = GuidelineVersion.objects.get(version=2)
    assert (saved.text, saved.created_by) == ("# New\n\ntext", world.manager)
    html = page(manager.get(WRITE))
    assert "Version 2 is saved; everybody sees it from now on." in html and "Save as version 3" in html
    manager.post(WRITE, {"text": "# New\n\ntext", "after": "2"})
    assert "Nothing changed: version 2 stays." in page(manager.get(WRITE))
    assert GuidelineVersion.objects.count() == 2


def test_version_of_somebody_else_is_not_written_over(world, manager) -> None:
    save_guidelines(world.campaign, "theirs")
    html = page(manager.post(WRITE, {"text": "mine </textarea><b>", "after": "1"}))
    assert "Somebody saved version 2 while you wrote." in html
    assert "mine &lt;/textarea&gt;&lt;b&gt;</textarea>" in html
    assert '<input type="hidden" name="after" value="2">' in html  # who saves again has been told
    assert GuidelineVersion.objects.count() == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "This field is required."),
        (" \n ", "The guidelines are empty"),
        ("x" * (MAX_LENGTH + 1), "at most 50000 characters"),
        ("a\0b", "Null characters are not allowed."),
    ],
)
def test_text_that_is_refused(world, manager, text: str, message: str) -> None:
    assert message in page(manager.post(WRITE, {"text": text, "after": "1"}))
    assert GuidelineVersion.objects.count() == 1


def test_preview_is_rendered_safely_and_saves_nothing(world, manager) -> None:
    html = page(manager.post(f"{WRITE}?part=preview", {"text": f"# T\n{NASTY}", "after": "1"}))
    assert html.startswith("<h3>T</h3>\n<p>&lt;script&gt;alert(1)&lt;/script&gt; {{ secret }}")
    assert re.findall(r"<(?!/?(?:h3|p)>)[^>]*>", html) == []
    assert "Ensure this value has at most" in page(
        manager.post(f"{WRITE}?part=preview", {"text": "x" * (MAX_LENGTH + 1), "after": "1"})
    )
    assert GuidelineVersion.objects.count() == 1


def test_versions_with_the_labels_given_under_them(world, manager) -> None:
    items = list(world.campaign.items.all()[:2])
    label_item(world, items[0], ann="Y")
    save_guidelines(world.campaign, "second", by=world.manager)
    save_guidelines(world.campaign, "third", by=world.manager)
    label_item(world, items[1], ann="Y")
    html = page(manager.get(WRITE))
    assert rows(html) == [("3", "1"), ("2", "0"), ("1", "1")]
    assert html.count("<td>manager</td>") == 2
    assert "Show what changed" in html


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(world, manager, count: int, django_assert_num_queries) -> None:
    for n in range(1, count):
        save_guidelines(world.campaign, f"text {n}", by=world.manager)
    page(manager.get(WRITE))
    with django_assert_num_queries(10):
        assert len(rows(page(manager.get(WRITE)))) == count
