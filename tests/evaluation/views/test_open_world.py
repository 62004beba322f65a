"""The open-world page: works as a form, gives its figures alone to its script, refuses in words, has CSV."""

from __future__ import annotations

import csv
import io

from evaluation.open_world.theory_page import SECTIONS
from evaluation.open_world.theory_settings import TheorySettings, parse_theory
from tests.page import charts, element, fields, links, read, refusal

PAGE = "/open-world"


def test_the_page_shows_every_section_and_the_settings_of_its_address(sign_in):
    answer = sign_in("researcher").get(f"{PAGE}?n=20&beta=0.5&metric=p_mrr")
    page = read(answer)
    settings = TheorySettings(n=20, beta=0.5, metric="p_mrr")
    sections = [make(settings) for make in SECTIONS.values()]
    assert list(charts(answer)) == [section.key for section in sections if section.chart]
    for key in SECTIONS:
        assert page.has(id=f"{key}-title")
        assert f"{PAGE}/{key}.csv?n=20&beta=0.5&metric=p_mrr" in links(answer)
    wanted = {"n": "20", "beta": "0.5", "strength": "0.7", "questions": "500", "metric": "p_mrr"}
    assert {name: value for name, value in fields(answer).items() if name in wanted} == wanted
    scripts = page.all(tag="script")
    assert all("src" in one for one in scripts)
    assert not [one for one in page.walk() if "style" in one]


def test_the_figures_come_alone(sign_in):
    answer = sign_in("researcher").get(f"{PAGE}?part=figures")
    page = read(answer)
    assert [one.attrs.get("data-rho") for one in page.elements] == ["−0.892 to 0.480"] and charts(answer)
    assert not page.has(tag="form") and not page.has(tag="html")


def test_bad_settings_are_refused_in_words_and_kept_in_the_form(sign_in):
    client = sign_in("researcher")
    answer = client.get(f"{PAGE}?rho=0.9")
    assert answer.status_code == 400
    assert [element(answer, "problem").text] == refusal(lambda: parse_theory({"rho": "0.9"}))
    assert fields(answer)["rho"] == "0.9" and not charts(answer)
    part = client.get(f"{PAGE}?n=x&part=figures")
    assert part.status_code == 200
    assert [element(part, "problem").text] == refusal(lambda: parse_theory({"n": "x"}))


def test_csv_is_the_table(sign_in):
    client = sign_in("researcher")
    for key, make in SECTIONS.items():
        answer = client.get(f"{PAGE}/{key}.csv?n=20")
        rows = list(csv.reader(io.StringIO(answer.content.decode().removeprefix("\ufeff"))))
        (table,) = make(TheorySettings(n=20)).tables
        columns = [column.key for column in table.columns]
        assert rows[0][: len(columns)] == columns and len(rows) == len(table.rows) + 1
        assert f'filename="open-world-{key}-n-20.csv"' in answer["Content-Disposition"]


def test_csv_of_what_is_not_there(sign_in):
    client = sign_in("researcher")
    assert client.get(f"{PAGE}/nothing.csv").status_code == 404
    bad = client.get(f"{PAGE}/theory.csv?beta=2")
    assert (bad.status_code, bad["Content-Type"]) == (400, "text/plain; charset=utf-8")
    assert [bad.content.decode()] == refusal(lambda: parse_theory({"beta": "2"}))


def test_pool_page_and_home_lead_to_it(sign_in):
    client = sign_in("researcher")
    for page in ("/help", "/pools/p/evaluation/open-world"):
        assert PAGE in [a["href"] for a in read(client.get(page)).all(tag="a")]
    assert PAGE not in [a["href"] for a in read(sign_in("annotator").get("/")).all(tag="a")]
