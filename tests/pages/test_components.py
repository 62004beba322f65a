"""Cards, tables, pills and the like are written in templates/components/ only, so that each looks and works one way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template import engines
from django.test import RequestFactory

from tests.page import parse

TEMPLATES = Path(settings.BASE_DIR) / "templates"
COMPONENTS = TEMPLATES / "components"
PAGES = sorted(path for path in TEMPLATES.rglob("*.html") if COMPONENTS not in path.parents)
# the markup of a component, and what to write instead
MARKUP = {
    r"(?<![\w-])card(?![\w-])": "{% card %}",
    r"chart-card|chart-title": "{% chart_card %}",
    r"badge[\w-]*": "{% pill %}",
    r"empty": "{% empty_state %}",
    r"table-wrap|table-stack": "{% table %}",
    r"button-primary button-danger": "{% confirm %}",
}
ROW = re.compile(r'<div class="(?:[^"]* )?field(?: [^"]*)?"')


def written_by_hand(text: str) -> list[str]:
    found = ["{% table %}"] * text.count("<table") + ["{% form_row %}"] * len(ROW.findall(text))
    for value in re.findall(r'class="([^"]*)"', text):
        found += [
            instead for markup, instead in MARKUP.items() if re.search(rf"(?<![\w-])(?:{markup})(?![\w-])", value)
        ]
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_a_page_is_made_of_components(path: Path):
    assert written_by_hand(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "markup",
    [
        '<form method="post" class="card section">',
        '<figure class="chart-card">',
        '<span class="badge badge-done">done</span>',
        '<div class="empty" data-test="empty">',
        '<div class="table-wrap tall"></div>',
        "<table>",
        '<div class="field">',
        '<button class="button-primary button-danger" type="submit">',
    ],
)
def test_markup_of_a_component_is_found(markup: str):
    assert len(written_by_hand(markup)) == 1


@pytest.mark.parametrize(
    "markup",
    [
        '<h3 class="card-title">',
        '<div class="entity-card">',
        '<p class="field-error">',
        '<fieldset class="field choices">',
    ],
)
def test_other_classes_are_no_component(markup: str):
    assert written_by_hand(markup) == []


def rendered(text: str, **values: object):
    html = engines["django"].from_string(text).render(values, RequestFactory().get("/"))
    return parse(html)


def test_a_component_takes_attributes_of_its_element():
    card = rendered(
        '{% card "li" class="row" data_test=kind|after:"of-" hidden=yes title=none %}a &amp; {{ b }}{% endcard %}',
        kind="x",
        yes=True,
        none=None,
        b="<b>",
    ).one("of-x")
    assert (card.tag, card["class"], "hidden" in card, "title" in card, card.text) == (
        "li",
        "card row",
        True,
        False,
        "a & <b>",
    )


def test_what_a_component_is_given_is_escaped():
    state = rendered("{% empty_state title data_test=test %}{% endempty_state %}", title="<i>", test='"><i>').one(
        tag="div"
    )
    assert (state["data-test"], state.one(tag="h2").text, state.has(tag="i")) == ('"><i>', "<i>", False)


def test_a_confirm_has_a_token_a_red_button_and_a_way_back():
    form = rendered(
        '{% confirm "Delete" back="/pools" keep="Keep" novalidate=True %}<p>All goes.</p>{% endconfirm %}'
    ).one(tag="form")
    assert form["method"] == "post" and "novalidate" in form and form.has(tag="input", name="csrfmiddlewaretoken")
    assert form.one(tag="button", type="submit")["class"] == "button-primary button-danger"
    assert form.one(tag="a").text == "Keep" and form.one(tag="a")["href"] == "/pools"


def test_a_table_stacks_its_rows_from_four_columns_on():
    def table(columns: int):
        return rendered(
            '{% table class="m" %}' + f"<thead><tr>{'<th>a</th>' * columns}</tr></thead>" + "{% endtable %}"
        ).one(tag="table")

    assert (table(3)["class"], table(4)["class"]) == ("m", "m table-stack")
