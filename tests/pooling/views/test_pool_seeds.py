"""The page of the seeds: their relation shares beside those of test, as chart, table and CSV."""

from __future__ import annotations

import csv

import pytest

from pooling.models import Pool
from pooling.pools.seeds import seed_report
from tests.page import charts, drawn, element, has, links, table
from tests.pages.world import make_graph, make_pool

URL = "/pools/town-pool/seeds"


@pytest.fixture
def pool(db, tmp_path) -> Pool:
    """Two seeds, both of `knows`; test has a third triple, of a relation whose name a spreadsheet would run."""
    folder = tmp_path / "town"
    make_graph(folder, "first")
    (folder / "test.tsv").write_text("p0\tknows\tp3\np1\tknows\tp4\np1\t=a relation of a very long name\tp2\n")
    from pooling.graphs.imports import import_graph
    from pooling.graphs.tsv import read_tsv

    return make_pool(import_graph("town", read_tsv(folder), options={}))


def test_shares_of_each_relation_and_divergences(pool, manager):
    html = manager.get(URL).content.decode()
    assert table(html, "shares") == [
        ["knows", "2", "100.0 %", "2", "66.7 %", "33.33", "15", "68.2 %"],
        ["=a relation of a very long name", "0", "0.0 %", "1", "33.3 %", "−33.33", "1", "4.5 %"],
    ]
    report = seed_report(pool)
    assert element(html, "figures").texts(tag="dd") == [
        "2",
        f"{report.test_from_seeds:.4f}",
        f"{report.whole_from_test:.4f}",
    ]
    assert "66.7 %" in element(html, "figures").all(tag="dt")[0].text
    assert element(html, "smoothing").text == "1"


def test_the_chart_has_the_numbers_of_the_table(pool, manager):
    shown = charts(manager.get(URL))
    assert list(shown) == ["seed-shares"]
    long = "=a relation of a very long name"
    assert drawn(shown["seed-shares"]) == {
        "test": ["knows: 66.6667", f"{long}: 33.3333"], "seeds": ["knows: 100", f"{long}: 0"],
    }  # fmt: skip


def test_the_csv_holds_the_same_and_runs_nothing(pool, manager):
    answer = manager.get(f"{URL}.csv")
    assert answer["Content-Disposition"] == 'attachment; filename="town-pool-seeds.csv"'
    head, *rows = csv.reader(answer.content.decode().splitlines())
    assert head == ["relation", "seeds", "seeds_share", "test", "test_share", "difference", "graph", "graph_share"]
    assert [row[0] for row in rows] == ["knows", "'=a relation of a very long name"]
    numbers = [[float(cell) for cell in row[1:]] for row in rows]
    assert numbers[0] == pytest.approx([2, 1, 2, 2 / 3, 1 / 3, 15, 15 / 22])
    assert numbers[1] == pytest.approx([0, 0, 1, 1 / 3, -1 / 3, 1, 1 / 22])


def test_the_triples_page_leads_here(pool, manager):
    assert URL in list(links(manager.get("/pools/town-pool/triples")))


def test_a_pool_without_seeds_says_so(pool, manager):
    pool.seeds.all().delete()
    assert has(manager.get(URL), "no-seeds")


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(count: int, pool, manager, django_assert_num_queries):
    for i in range(count):
        make_pool(pool.graph, f"pool-{i}")
    for url, queries in ((URL, 6), (f"{URL}.csv", 4)):
        with django_assert_num_queries(queries):
            manager.get(url)
