"""Pages of docs/ as pages of the site."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.utils.text import slugify

from evaluation.measures.registry import MEASURES
from evaluation.pages.registry import ANALYSES, PAPERS
from evaluation.sections.help_pages import GROUPS, PAGES, help_page, render_help

ROOT = Path(settings.BASE_DIR)


def test_headings_have_ids_and_those_of_level_2_are_the_contents():
    page = render_help("# Title\n\n## One `two`\n\ntext\n\n### Three\n\n## One two\n")
    assert page.title == "Title"
    assert [(one.slug, one.text) for one in page.contents] == [("one-two", "One two"), ("one-two-2", "One two")]
    assert page.html == (
        '<h2 id="one-two">One <code>two</code></h2>\n<p>text</p>\n<h3 id="three">Three</h3>\n'
        '<h2 id="one-two-2">One two</h2>\n'
    )


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[m](measures.md)", '<a href="/help/measures">m</a>'),
        ("[m](measures.md#micro-mrr)", '<a href="/help/measures#micro-mrr">m</a>'),
        ("[e](../docs/evaluation.md)", '<a href="/help/evaluation">e</a>'),
        ("[here](#here)", '<a href="#here">here</a>'),
        ("[out](https://example.org/)", '<a href="https://example.org/">out</a>'),
        ("[file](../README.md) and *more*", "file and <em>more</em>"),
        ("[bad](http://example.org/)", "bad"),
        ("before ![alt](images/flow.svg)", "before alt"),
        ("<b>raw</b>", "&lt;b&gt;raw&lt;/b&gt;"),
    ],
)
def test_links_stay_on_the_site_and_nothing_else_comes_in(written: str, expected: str):
    assert render_help(written).html == f"<p>{expected}</p>\n"


def test_pictures_and_comments_of_their_own_line_are_left_out():
    picture = '<picture><source srcset="images/a-dark.png"><img src="images/a-light.png" alt="a"></picture>'
    text = f"one\n\n{picture}\n\n<!-- begin measures -->\n![a](images/a.svg)\n\ntwo\n"
    assert render_help(text).html == "<p>one</p>\n<p>two</p>\n"


def test_site_of_the_documentation_has_the_same_groups_and_names():
    nav = yaml.safe_load((ROOT / "config" / "mkdocs.yml").read_text())["nav"]
    entries = {name: [found] if isinstance(found, str) else found for row in nav for name, found in row.items()}
    named = {name: [one if isinstance(one, dict) else {name: one} for one in found] for name, found in entries.items()}
    for group, pages in GROUPS.items():
        on_site = {path: label for one in named[group] for label, path in one.items()}
        assert {f"{page.name}.md": page.label for page in pages}.items() <= on_site.items()


def test_tables_can_be_scrolled():
    html = render_help("| a |\n|---|\n| b |\n").html
    assert html.startswith('<div class="table-wrap" tabindex="0"><table>') and html.endswith("</table></div>\n")


@pytest.mark.parametrize("page", ["settings", "../README", "evaluation.md", ""])
def test_no_other_file_is_shown(page: str):
    assert help_page(page) is None


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_there(page: str):
    found = help_page(page)
    assert found is not None and found.title and (found.contents or page in ("commands",))


def test_every_page_of_the_evaluation_has_a_heading():
    asked = {(analysis.docs_page, analysis.docs) for analysis in (*ANALYSES, *PAPERS)}
    asked |= {("evaluation", heading) for heading in ("label-sets", "questions", "report")}
    for name, heading in asked:
        page = help_page(name)
        assert page is not None and heading in {one.slug for one in page.contents}


def test_measures_page_has_the_anchor_that_pages_link_to():
    page = help_page("measures")
    assert page is not None
    assert {slugify(measure.label) for measure in MEASURES} <= {one.slug for one in page.contents}
