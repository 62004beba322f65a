"""The page of the seeds: their relation shares beside those of test, as figures, chart, table and CSV."""

from __future__ import annotations

import csv
import json
import re

import pytest

from pooling.models import Pool
from pooling.pools.seeds import seed_report
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
    body = re.search(r"<tbody>(.*?)</tbody>", html, re.S)
    assert body is not None
    rows = [
        [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
        for row in re.findall(r"<tr>(.*?)</tr>", body.group(1), re.S)
    ]
    assert rows == [
        ["knows", "2", "100.0 %", "2", "66.7 %", "33.33", "15", "68.2 %"],
        ["=a relation of a very long name", "0", "0.0 %", "1", "33.3 %", "-33.33", "1", "4.5 %"],
    ]
    report = seed_report(pool)
    assert f"<dt>D(seeds ‖ test), nats</dt><dd>{report.from_test:.4f}</dd>" in html
    assert f"<dt>D(test ‖ all triples), nats</dt><dd>{report.test_from_whole:.4f}</dd>" in html
    assert "<dt>seeds (66.7 % of test)</dt><dd>2</dd>" in html
    assert "0.5 triples are added to every relation" in html


def test_the_chart_has_the_numbers_of_the_table(pool, manager):
    html = manager.get(URL).content.decode()
    data = re.search(r'<script id="chart-data" type="application/json">(.*?)</script>', html, re.S)
    assert data is not None
    [chart] = json.loads(data.group(1))
    assert (chart["key"], chart["kind"]) == ("seed-shares", "bars")
    test, seeds = chart["data"]["series"]
    assert (test["name"], seeds["name"]) == ("test", "seeds")
    assert test["x"] == seeds["x"] == ["knows", "=a relation of a very long name"]
    assert test["y"] == pytest.approx([200 / 3, 100 / 3])
    assert seeds["y"] == [100, 0]
    assert chart["data"]["yaxis"]["ticktext"] == ["knows", "…elation of a very long name"]


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
    assert f'<a href="{URL}">' in manager.get("/pools/town-pool/triples").content.decode()


def test_a_pool_without_seeds_says_so(pool, manager):
    pool.seeds.all().delete()
    assert "This pool has no seed triples" in manager.get(URL).content.decode()


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(count: int, pool, manager, django_assert_num_queries):
    for i in range(count):
        make_pool(pool.graph, f"pool-{i}")
    for url in (URL, f"{URL}.csv"):
        with django_assert_num_queries(5):
            manager.get(url)
