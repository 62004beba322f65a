"""The lists of questions, triples and label sets as files: all that was found, not one page of it."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from evaluation.browse.label_set_rows import label_set_rows
from evaluation.browse.pool_states import pool_states
from evaluation.browse.search import (
    QuestionFilter,
    TripleFilter,
    find_questions,
    find_triples,
    list_figures,
    question_rows,
    triple_rows,
)
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table
from evaluation.labels.qrels import freeze_qrels
from evaluation.test_sets.export import export_test_set
from pooling.graphs.imports import import_graph
from pooling.graphs.opening import open_graph
from pooling.graphs.tsv import read_tsv
from pooling.models import Pool, Run
from tests.evaluation.views.test_labels import MANAGER, RESEARCHER, annotated
from tests.factories import make_person

BASE = "/pools/p/evaluation"
Rows = list[dict[str, str]]


def download(client, page: str, query: str = "") -> tuple[Rows, str]:
    """Through the link on the page, so that the link is tested too: rows, and the name of the file."""
    html = client.get(f"{BASE}/{page}{query}").content.decode()
    links = re.findall(rf'href="({BASE}/{page}\.csv|\.csv[^"]*|{BASE}/{page}\.csv[^"]*)"', html)
    assert len(links) == 1
    answer = client.get(links[0].replace("&amp;", "&"))
    assert answer.status_code == 200
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    return rows, answer["Content-Disposition"].split('"')[1]


def test_questions_are_those_of_the_search_in_its_order(sign_in, labelled: Pool):
    states = pool_states(labelled)
    spread = list_figures(labelled, states).spread
    wanted = QuestionFilter("", "head", None, "all", "answers")
    places = find_questions(states, wanted, spread)
    expected = question_rows(labelled, states, places, spread)
    assert len(expected) > 25  # more than one page of the list
    query = "?q=&side=head&which=all&sort=answers&page=2"
    rows, name = download(sign_in("researcher"), "questions", query)
    assert name == "p-questions-side-head-which-all-sort-answers.csv"
    entities = states.contents.graph.entities
    assert [
        (row["side"], row["entity"], row["relation"], row["words"], row["original"], row["unjudged"]) for row in rows
    ] == [
        (row.side, entities[row.entity], row.relation_name, row.words, str(row.original), str(row.unjudged))
        for row in expected
    ]
    assert [row["spread"] for row in rows] == ["" if row.spread is None else repr(row.spread) for row in expected]


def test_triples_have_their_state_and_who_found_them(sign_in, labelled: Pool):
    states, graph = pool_states(labelled), open_graph(labelled.graph)
    expected = triple_rows(labelled, states, find_triples(labelled, states, TripleFilter(state="new")))
    rows, name = download(sign_in("researcher"), "triples", "?state=new")
    assert name == "p-triples-state-new.csv" and len(rows) == len(expected) > 0
    for row, triple in zip(rows, expected, strict=True):
        h, r, t = (
            graph.entities.index(row["head"]),
            graph.relations.index(row["relation"]),
            graph.entities.index(row["tail"]),
        )
        assert ((h, r, t), row["state"], row["depth"]) == (triple[:3], "new", str(triple.depth))
        assert row["found_by"].split("; ") == [f"{f.system} {f.side} {f.rank}" for f in triple.found_by]


def test_all_triples_are_in_the_file(sign_in, labelled: Pool):
    rows, name = download(sign_in("researcher"), "triples")
    assert name == "p-triples.csv"
    assert len(rows) == labelled.seeds.count() + labelled.triples.count()


def test_label_sets_are_those_of_the_page(sign_in, labelled: Pool):
    rows, name = download(sign_in("researcher"), "labels")
    table = pool_table(labelled)
    expected = label_set_rows(labelled, table, RESEARCHER)
    assert name == "p-label-sets.csv"
    assert [row["key"] for row in rows] == [row.key for row in expected]
    counts = label_set(labelled, table, "current").counts()
    current = next(row for row in rows if row["key"] == "current")
    assert {key: int(current[key]) for key in counts if key in current} == {
        key: n for key, n in counts.items() if key in current
    }
    assert int(current["positive"]) > int(next(r for r in rows if r["key"] == "seeds")["positive"]) > 0


def test_names_of_annotators_are_in_the_file_of_managers_only(sign_in, labelled: Pool):
    annotated(labelled, "zoe")
    keys = {role: download(sign_in(role), "labels")[0] for role in ("manager", "researcher")}
    named = [row for row in label_set_rows(labelled, pool_table(labelled), MANAGER) if "zoe" in row.name]
    assert len(named) == 1
    assert [row["name"] for row in keys["manager"] if "zoe" in row["name"]] == [named[0].name]
    assert not any("zoe" in value for row in keys["researcher"] for value in row.values())


def test_without_runs_questions_and_triples_come_and_label_sets_say_why(sign_in, labelled: Pool):
    Run.objects.all().delete()
    client = sign_in("researcher")
    rows, _ = download(client, "questions")
    assert rows and {row["spread"] for row in rows} == {""}
    answer = client.get(f"{BASE}/labels.csv")
    assert answer.status_code == 400 and "No system has the rank rows" in answer.content.decode()


def test_ids_that_a_spreadsheet_would_run_are_raw_in_a_test_set_and_safe_in_tables(db, tmp_path: Path, client):
    pool = pool_of_formulas(tmp_path / "formulas")
    client.force_login(make_person("r", "researcher"), backend="config.sign_in.Accounts")
    triples, _ = download(client, "triples")
    assert {(row["head"], row["relation"], row["tail"]) for row in triples} == {
        ("'@cmd", "'=knows", "'=1+1"),
        ("'@cmd", "'=knows", "'-2"),
    }
    questions, _ = download(client, "questions", "?which=all")
    assert {(row["entity"], row["relation"]) for row in questions} == {
        ("'@cmd", "'=knows"),
        ("'=1+1", "'=knows"),
        ("'-2", "'=knows"),
    }

    export_test_set(freeze_qrels(pool, "v1"), tmp_path / "out")
    files = {
        name: (tmp_path / "out" / name).read_text().splitlines()
        for name in (
            "train.tsv",
            "test.tsv",
            "pool.tsv",
            "judgements.tsv",
            "trec/pool.txt",
            "trec/qrels.txt",
            "trec/topics.tsv",
        )
    }
    assert files["train.tsv"] == ["=1+1\t=knows\t@cmd", "-2\t=knows\t+3", "+3\t=knows\t@cmd"]
    assert files["test.tsv"] == ["@cmd\t=knows\t=1+1"]
    assert files["pool.tsv"] == ["@cmd\t=knows\t-2\t1\t"]
    assert [line.split("\t")[:3] for line in files["judgements.tsv"][1:]] == [
        ["@cmd", "=knows", "=1+1"],
        ["@cmd", "=knows", "-2"],
    ]
    assert {line.split(" ")[2] for line in files["trec/pool.txt"]} == {"@cmd", "-2"}
    assert {line.split(" ")[2] for line in files["trec/qrels.txt"]} == {"@cmd", "=1+1"}
    assert {line.split("\t")[2] for line in files["trec/topics.tsv"][1:]} == {"@cmd", "=1+1", "-2"}


def pool_of_formulas(folder: Path) -> Pool:
    """A seed and a pooled triple, all of whose ids begin as formulas do."""
    folder.mkdir()
    (folder / "train.tsv").write_text("=1+1\t=knows\t@cmd\n-2\t=knows\t+3\n+3\t=knows\t@cmd\n")
    (folder / "valid.tsv").write_text("=1+1\t=knows\t+3\n")
    (folder / "test.tsv").write_text("@cmd\t=knows\t=1+1\n")
    graph = import_graph("formulas", read_tsv(folder), options={})
    pool = Pool.objects.create(
        graph=graph, name="p", depth=10, seed_source="all of test", origin="imported", state="ready"
    )
    index = open_graph(graph).entity_index
    pool.seeds.create(head=index["@cmd"], relation=0, tail=index["=1+1"])
    pool.triples.create(head=index["@cmd"], relation=0, tail=index["-2"], depth=1)
    return pool


@pytest.mark.parametrize("role", ["annotator", "adjudicator", "guest", "stranger"])
def test_nobody_else_gets_a_list(sign_in, labelled: Pool, role):
    client = sign_in(role)
    for page in ("questions", "triples", "labels"):
        answer = client.get(f"{BASE}/{page}.csv")
        assert answer.status_code == (302 if role == "stranger" else 403)
        assert "distmult" not in answer.content.decode()
