"""Guidelines: Markdown that is safe, versions that are kept, differences between them."""

from __future__ import annotations

import re
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.errors import CampaignError
from annotation.messages.guidelines import (
    MAX_LENGTH,
    DiffLine,
    current_guidelines,
    diff_lines,
    labels_by_version,
    render_markdown,
    save_guidelines,
)
from annotation.models import GuidelineVersion, Label
from core.models import AuditEntry
from tests.annotation.factories import label_item

ALLOWED = re.compile(
    r"</?(?:p|br|hr|strong|em|code|pre|blockquote|ul|ol(?: start=\"\d+\")?|li|h[3-6]"
    r"|table(?: class=\"table-stack\")?|thead|tbody|tr|th|td(?: data-label=\"[^\"<>]*\"(?: data-none)?)?)>"
    r'|<a href="(?:https://|mailto:)[^"<>]*" target="_blank" rel="noopener noreferrer nofollow">|</a>'
    r'|<div class="table-wrap" tabindex="0">|</div>'
)


def test_markdown_becomes_html() -> None:
    text = "One **two** *three* `four`\n\n- a\n- b\n\n3. c\n\n> quote\n\n| x | y |\n|---|--:|\n| 1 | 2 |\n"
    assert str(render_markdown(text)).replace("\n", "") == (
        "<p>One <strong>two</strong> <em>three</em> <code>four</code></p>"
        '<ul><li>a</li><li>b</li></ul><ol start="3"><li>c</li></ol><blockquote><p>quote</p></blockquote>'
        '<div class="table-wrap" tabindex="0"><table><thead><tr><th>x</th><th>y</th></tr></thead>'
        "<tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>"
    )


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("# a\n## b\n#### c\n###### d", ["h3", "h4", "h6", "h6"]),
        ("## a\n### b", ["h3", "h4"]),
        ("###### a", ["h3"]),
        ("a\n===\nb\n---", ["h3", "h4"]),
    ],
)
def test_headings_never_outrank_those_of_the_page(text: str, levels: list[str]) -> None:
    assert re.findall(r"<(h\d)>", render_markdown(text)) == levels


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("[a](https://en.wikipedia.org/wiki/A)", "https://en.wikipedia.org/wiki/A"),
        ("[a](mailto:help@example.org)", "mailto:help@example.org"),
        ("<https://example.org/?a=1&b=2>", "https://example.org/?a=1&amp;b=2"),
        ("[a]\n\n[a]: https://example.org", "https://example.org"),
    ],
)
def test_links_open_beside_the_questions(text: str, href: str) -> None:
    link = f'<a href="{href}" target="_blank" rel="noopener noreferrer nofollow">'
    assert re.findall(r"<a [^>]*>", render_markdown(text)) == [link]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<b onclick=alert(1)>bold</b>",
        "<style>body{display:none}</style>",
        "<!-- --><iframe src=//evil.example></iframe>",
        "<svg/onload=alert(1)>",
        "</div><script>alert(1)</script><div>",
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt:alert(1))",
        "[a](java&#115;cript:alert(1))",
        "[a](&#x6A;avascript:alert(1))",
        "[a](data:text/html;base64,PHNjcmlwdD4=)",
        "[a](vbscript:x)",
        "[a](file:///etc/passwd)",
        "[a](http://plain.example)",
        "[a](/logout)",
        "[a](//evil.example)",
        "[a](\x01javascript:alert(1))",
        "<javascript:alert(1)>",
        "<data:text/html,x>",
        "[a]\n\n[a]: javascript:alert(1)",
        '[a](https://e.org "x\\" onmouseover=alert(1) y=\\"")',
        "[a](https://e.org/\"onmouseover='alert(1)')",
        "[<b onmouseover=alert(1)>a</b>](https://e.org)",
        "![a](data:image/svg+xml;base64,PHN2Zz4=)",
        '![x" onerror="alert(1)](https://e.org/i.png)',
        "![a](https://tracker.example/i.png)",
        "[![a](https://tracker.example/i.png)](https://e.org)",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "> > > > <script>alert(1)</script>",
        "```html\n<script>alert(1)</script>\n```",
        '```"onmouseover="alert(1)\nx\n```',
        "| <script>alert(1)</script> |\n|---|\n| [a](javascript:x) |",
        "`<script>`",
        "<table><script>alert(1)</script></table>",
        "{{ secret }} {% now 'Y' %}",
        "\ud800<script>alert(1)</script>".encode("utf-8", "replace").decode(),
    ],
)
def test_nothing_but_harmless_tags_and_links_is_left(text: str) -> None:
    html = str(render_markdown(text))
    assert re.findall(r"<[^>]*>?", ALLOWED.sub("", html)) == []


def test_image_leaves_its_text_and_raw_html_is_shown() -> None:
    assert str(render_markdown("![a map](https://e.org/i.png) <b>x</b>")) == ("<p>a map &lt;b&gt;x&lt;/b&gt;</p>\n")


@pytest.mark.parametrize("piece", ["[", "![", "`a", "*a ", "> ", "- ", "|a", "<a", "&amp", "_a__b", "[a]("])
def test_longest_nasty_text_is_rendered_soon(piece: str) -> None:
    """Work that grew with the square of the length would take minutes; measured: 0.6 s of the processor at most."""
    start = time.process_time()
    render_markdown(piece * (MAX_LENGTH // len(piece)))
    assert time.process_time() - start < 30


def test_campaign_opens_with_version_1(world) -> None:
    first = current_guidelines(world.campaign)
    assert (first.version, first.created_by) == (1, None)
    assert first.text.startswith("Each question asks whether one statement is true.")
    assert "<h3>Evidence</h3>" in render_markdown(first.text)
    assert AuditEntry.objects.filter(act="guidelines-saved").count() == 0


def test_save_makes_a_new_version_and_keeps_the_old(world) -> None:
    saved = save_guidelines(world.campaign, "  # New \r\ntext  \r\n", by=world.manager, after=1)
    assert (saved.version, saved.text, saved.created_by) == (2, "# New\ntext", world.manager)
    assert current_guidelines(world.campaign) == saved
    assert list(GuidelineVersion.objects.values_list("version", flat=True)) == [1, 2]
    entry = AuditEntry.objects.get(act="guidelines-saved")
    assert (entry.person, entry.pool, entry.about) == (world.manager, world.pool, "version 2")


def test_save_of_the_same_text_changes_nothing(world) -> None:
    saved = save_guidelines(world.campaign, "New", by=world.manager)
    assert save_guidelines(world.campaign, "New\n", by=world.manager, after=1) == saved
    assert (GuidelineVersion.objects.count(), AuditEntry.objects.filter(act="guidelines-saved").count()) == (2, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [(" \n", "are empty"), ("x" * (MAX_LENGTH + 1), "have 50,001 characters: shorten them to 50,000")],
)
def test_save_refuses(world, text: str, message: str) -> None:
    with pytest.raises(CampaignError, match=message):
        save_guidelines(world.campaign, text)
    assert GuidelineVersion.objects.count() == 1


def test_longest_text_is_saved(world) -> None:
    assert len(save_guidelines(world.campaign, "x" * MAX_LENGTH).text) == MAX_LENGTH


def test_nobody_writes_over_a_version_they_have_not_seen(world) -> None:
    save_guidelines(world.campaign, "theirs", after=1)
    with pytest.raises(CampaignError, match="Somebody saved version 2 while you wrote"):
        save_guidelines(world.campaign, "mine", after=1)
    assert current_guidelines(world.campaign).text == "theirs"


def test_without_a_version_there_are_no_current_guidelines(world) -> None:
    second = save_guidelines(world.campaign, "second")
    GuidelineVersion.objects.all().delete()
    assert current_guidelines(world.campaign) is None
    assert second.version == 2


def test_labels_are_counted_under_the_version_they_were_given_under(world, django_assert_num_queries) -> None:
    items = list(world.campaign.items.all()[:3])
    for item in items:
        label_item(world, item, ann="Y")
    now = timezone.now()
    save_guidelines(world.campaign, "second")
    save_guidelines(world.campaign, "third")
    for version, days in ((1, 3), (2, 2), (3, 1)):
        at = now - timedelta(days=days)
        GuidelineVersion.objects.filter(version=version).update(created_at=at)
    for item, days in zip(items, (9, 2.5, 0), strict=True):
        Label.objects.filter(item=item).update(created_at=now - timedelta(days=days))
    versions = list(world.campaign.guideline_versions.order_by("-version"))
    with django_assert_num_queries(2):
        assert labels_by_version(world.campaign, versions) == {3: 1, 2: 0, 1: 2}
    assert labels_by_version(world.campaign, versions[1:2]) == {2: 0}


def test_difference_by_lines() -> None:
    before = "a\nb\nc\nd\ne\nf\ng"
    assert diff_lines(before, "a\nb\nc\nd\nE\nf\ng\nh") == [
        DiffLine("…", ""),
        DiffLine(" ", "c"),
        DiffLine(" ", "d"),
        DiffLine("−", "e"),
        DiffLine("+", "E"),
        DiffLine(" ", "f"),
        DiffLine(" ", "g"),
        DiffLine("+", "h"),
    ]
    assert diff_lines("--- x", "+++ x") == [DiffLine("−", "--- x"), DiffLine("+", "+++ x")]
    assert diff_lines(before, before) == []
