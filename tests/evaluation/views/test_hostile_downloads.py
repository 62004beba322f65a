"""Names and texts that would spoil a table are in every download, and spoil none."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Campaign
from annotation.questions.templates import read_templates, save_template
from evaluation.pages.registry import get_analysis
from evaluation.sections.figure_cache import part_figure
from evaluation.sections.settings import Settings
from pooling.graphs.imports import import_graph
from pooling.graphs.tsv import read_tsv
from pooling.models import Pool
from tests.annotation.factories import answer, claim
from tests.factories import CITIES, COUNTRIES, PEOPLE, judge_all, make_person, make_pool, make_systems, write_town

STARTS = [
    "=1+1", "+1+cmd", "-1+cmd", "@SUM(1)", " =2+2", "\u00a0=3", "\u3000＝4", "＋5", "－6", "＠7", "\ufeff=8", "a;=9",
    "a; =10", 'b;"=11', 'c"', '"d', "e\u2028=12", "f\u0085=13", "\u202e=14", "g,=15",
]  # fmt: skip
FORMULA = re.compile(r"[\s\"\ufeff\u200b-\u200f\u202a-\u202e]*[=+@＝＋－＠-]")
NUMBER = re.compile(r"-?[0-9][0-9.,e+-]*")


def spoiled(path: Path) -> Path:
    """A town whose names are those that begin formulas, in each of its files."""
    write_town(path)
    many = [*PEOPLE[6:], *CITIES, *COUNTRIES]
    names = {old: f"{new} {i}" for i, (old, new) in enumerate(zip(many, STARTS, strict=False))}
    names |= {name: f"={name}" for name in ("knows", "lives in", "has city", "sees", "capital of", "person", "city")}
    for file in path.iterdir():
        lines = file.read_text().splitlines()
        file.write_text("".join("\t".join(names.get(one, one) for one in line.split("\t")) + "\n" for line in lines))
    return path


@pytest.fixture
def pool(db, tmp_path: Path) -> Pool:
    graph = import_graph("town", read_tsv(spoiled(tmp_path / "spoiled")), options={})
    make_systems(graph)
    pool = make_pool(graph)
    judge_all(pool)
    return pool


def formulas(text: str) -> list[str]:
    """Return the cells that a spreadsheet would run, which divides at commas, at semicolons or at tabs."""
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    cells += re.split(r"[;\t\r\n]", text)
    return [cell for cell in cells if FORMULA.match(cell) and not NUMBER.fullmatch(cell.strip())]


ADDRESSES = {  # every address that sends CSV, with its arguments
    "evaluation-labels-csv": [("p",)],
    "evaluation-questions-csv": [("p",)],
    "evaluation-triples-csv": [("p",)],
    "analysis-csv": [
        ("p", "relations", "by-relation-labels"),
        ("p", "relations", "shares"),
        ("p", "measures", "labels"),
    ],
    "campaign-triples-csv": [("p",)],
    "hours": [("p",)],
    "open-world-csv": [("theory",)],
    "open-world-study-csv": [],  # of numbers and the names of its own columns
    "pool-overlap-csv": [("p",)],
    "pool-seeds-csv": [("p",)],
    "systems-compare-csv": [],  # of trained systems, whose names are slugs: numbers
}


def test_every_address_that_sends_csv_is_here():
    patterns = {name: of[0][0][0] for name, of in get_resolver().reverse_dict.items() if isinstance(name, str)}
    assert {name for name, pattern in patterns.items() if pattern.endswith(".csv")} == set(ADDRESSES)


@pytest.fixture
def labels_given(pool: Pool) -> Campaign:
    """Two people whose names begin formulas have labelled."""
    for relation in pool.graph.relations.all():
        save_template(relation, "={subject}; =1 {object}?", "+{subject}?", "-{object}?")
    campaign = open_campaign(pool)
    for name in ("@ann", "+ben"):
        person = make_person(name)
        campaign.members.create(person=person, role="annotator", consented_at=timezone.now())
        for slot in claim(campaign, person, 3):
            answer(person, slot)
    return campaign


def test_no_csv_has_a_formula_and_each_of_its_lines_has_all_columns(labels_given: Campaign, client: Client):
    client.force_login(make_person("m", "manager"), backend="config.sign_in.Accounts")
    for part in get_analysis("relations").parts:
        part_figure(labels_given.pool, get_analysis("relations"), part, Settings())
    begun = set()  # files in which something was kept from being a formula
    for address in [reverse(name, args=args) for name, of in ADDRESSES.items() for args in of]:
        got = client.get(address)
        assert got.status_code == 200, (address, got.content)
        text = got.content.decode()
        rows = list(csv.reader(io.StringIO(text, newline="")))
        assert len(rows) > 1 and {len(row) for row in rows} == {len(rows[0])}, address
        assert formulas(text) == [], address
        begun |= {address.rpartition("/")[2]} if "'" in text else set()
    assert begun >= {"questions.csv", "triples.csv", "seeds.csv", "hours.csv", "by-relation-labels.csv", "shares.csv"}


def test_questions_are_sent_as_they_are_and_come_back(pool: Pool, client: Client):
    client.force_login(make_person("m", "manager"), backend="config.sign_in.Accounts")
    texts = [' ={subject}; "=1" \u202e＝{object}?', "+{subject} 'x?", "@SUM(1) \ufeff{object}?"]
    for relation in pool.graph.relations.all():
        save_template(relation, *texts)
    sent = client.get(reverse("pool-questions-tsv", args=["p"]), {"of": "graph"}).content
    assert {line.count("\t") for line in sent.decode().splitlines()} == {3}
    for relation in pool.graph.relations.all():
        save_template(relation, "Is {subject} {object}?", "Who is {subject}?", "Who is {object}?")
    changes = read_templates(pool.graph, sent, "questions.tsv")
    assert len(changes) == pool.graph.relations.count() > 0
    assert {change.texts for change in changes} == {(texts[0].strip(), *texts[1:])}
