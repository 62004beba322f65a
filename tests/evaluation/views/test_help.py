"""The help pages; who may read them is in tests/pages/test_access.py."""

from __future__ import annotations

from evaluation.sections.help_pages import PAGES, help_page
from tests.page import content, links, parse


def test_help_page_is_the_documentation_with_its_contents(sign_in):
    page = sign_in("researcher").get("/help/evaluation")
    document = help_page("evaluation")
    assert document is not None and parse(page).one(tag="h1").text == document.title
    headings = {heading.slug: heading.text for heading in document.contents}
    assert "discriminative-power" in headings
    assert {a["href"][1:]: a.text for a in parse(page).one(tag="nav", class_="card contents").all(tag="a")} == headings
    assert {one["id"]: one.text for one in content(page).all(tag="h2") if one["id"] in headings} == headings
    assert "/help/measures" in links(page)


def test_lenses_are_a_help_page(sign_in):
    page = parse(sign_in("researcher").get("/help/lenses"))
    assert page.one(tag="h1").text == help_page("lenses").title and page.has(tag="h2", id="probe")


def test_the_api_is_explained_to_whoever_can_have_a_token(sign_in):
    page = parse(sign_in("annotator").get("/help/api"))
    assert page.one(tag="h1").text == help_page("api").title and page.has(tag="h2", id="label")
    assert {one.attrs.get("tabindex") for one in page.all(tag="pre")} == {"0"}
    assert sign_in("stranger").get("/help/api")["Location"] == "/login?next=/help/api"
    assert sign_in("adjudicator").get("/help/lenses").status_code == 403


def test_index_lists_what_the_person_may_read(sign_in):
    shown = [a["href"] for a in parse(sign_in("manager").get("/help")).all(data_test="help-page")]
    assert shown == [f"/help/{name}" for name in PAGES]
    client = sign_in("annotator")
    shown = [a["href"] for a in parse(client.get("/help")).all(data_test="help-page")]
    assert shown == ["/help/labelling", "/help/api", "/help/troubleshooting", "/help/glossary"]
    assert [client.get(f"/help/{name}").status_code for name in PAGES if f"/help/{name}" in shown] == [200] * 4
    assert {client.get(f"/help/{name}").status_code for name in PAGES if f"/help/{name}" not in shown} == {403}


def test_no_link_of_an_annotators_help_is_refused(sign_in):
    client = sign_in("annotator")
    pages = {f"/help/{name}" for name in ("labelling", "api", "troubleshooting", "glossary")}
    linked = {link.partition("#")[0] for page in pages for link in links(client.get(page))}
    assert {link for link in linked if link.startswith("/help/")} <= pages
    assert "/help/formats#files-that-come-out" in links(sign_in("manager").get("/help/api"))


def test_unknown_help_page_is_404(sign_in):
    client = sign_in("manager")
    assert [client.get(f"/help/{page}").status_code for page in ("settings", "nothing")] == [404, 404]
