"""The list of papers, the way to the page of one, and the command that prints it."""

from __future__ import annotations

import pytest

from evaluation.pages.registry import PAPERS, get_analysis
from evaluation.sections.section import Analysis
from evaluation.sections.settings import Settings
from pooling.models import Pool
from tests.page import elements, has, links, parse


def test_papers_lead_to_their_pages_for_the_chosen_pool(sign_in, labelled: Pool):
    client = sign_in("researcher")
    page = client.get("/papers", {"pool": "p"})
    assert len(elements(page, "paper")) == len(PAPERS)
    assert [f"/pools/p/evaluation/{one.key}" in links(page) for one in PAPERS] == [True] * len(PAPERS)
    assert client.get("/papers/003")["Location"] == "/pools/p/evaluation/paper-003"
    assert client.get("/papers/000")["Location"] == "/pools/p/evaluation/paper-001"  # the same paper
    assert client.get("/papers", {"pool": "nobody"}).status_code == 404
    assert client.get("/papers/999").status_code == 404


def test_without_a_pool_the_page_says_what_to_do(sign_in):
    client = sign_in("manager")
    Pool.objects.update(archived=True)
    for address in ("/papers", "/papers/003"):
        page = client.get(address)
        assert has(page, "no-pool") and "/test-sets/import" in links(page)


def test_the_page_of_a_paper_is_shown_with_its_charts(sign_in, labelled: Pool):
    client = sign_in("researcher")
    page = client.get("/pools/p/evaluation/paper-003")
    assert page.status_code == 200
    titles = [one.text for one in parse(page).all(tag="h2")]
    assert [title.split(".")[0] for title in titles if title.startswith(("Table", "Figure"))][:3] == [
        "Table 1",
        "Table 2",
        "Figure 2",
    ]
    csv = client.get("/pools/p/evaluation/paper-003/table-1.csv").content.decode()
    assert csv.splitlines()[0].startswith("set,triples,triples_published")


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_every_paper_opens_with_a_chart_or_table_in_each_section(sign_in, labelled: Pool, paper: Analysis):
    page = sign_in("researcher").get(f"/pools/p/evaluation/{paper.key}")
    assert page.status_code == 200
    content = page.content.decode()
    light = [
        section
        for part in paper.parts
        if not part.heavy
        for section in part.compute(paper.context(labelled, Settings()))
    ]
    assert light and all(f'id="{section.key}"' in content for section in light)


def test_the_command_prints_every_table(labelled: Pool, capsys):
    from django.core.management import call_command

    call_command("paper", "003", "p", "--quick")
    out = capsys.readouterr().out
    assert [line.split(".")[0] for line in out.splitlines() if line.startswith(("Table ", "Figure "))] == [
        "Table 1", "Table 2", "Figure 2", "Figure 3", "Figure 4", "Table 3", "Figure 5", "Figure 6", "Figure 6",
        "Table 4", "Figure 8", "Figure 8",
    ]  # fmt: skip
    row = next(line for line in out.splitlines() if line.startswith("S-C "))
    positive = labelled.triples.filter(judgement__verdict="positive").count() + labelled.seeds.count()
    assert row.split()[3] == str(positive)


def test_repeated_figures_are_folded_and_say_what_they_show(sign_in, labelled: Pool, monkeypatch):
    monkeypatch.setitem(vars(get_analysis("paper-001")), "opened", ("table-1",))
    page = parse(sign_in("researcher").get("/pools/p/evaluation/paper-001"))
    folds = page.all(tag="details", class_="section fold")
    assert "table-1" not in {fold.one(tag="section")["id"] for fold in folds} and len(folds) > 5
    for fold in folds:
        (said,) = [one for one in fold.elements[0].walk() if "fold-finding" in one.attrs.get("class", "")]
        assert said.text
