"""A private run is compared with the published ones where all of them were asked, as it is once it is published."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluation.labels.pool_table import EvaluationError, whole_table
from evaluation.overview.own_run import MEASURES, beside_published
from evaluation.sections.compared import compared_notes
from evaluation.sections.metrics import metrics
from evaluation.test_sets.trec import pool_topics, seed_topics
from pooling.models import Pool, System
from pooling.runs.export import get_run, whole_run
from pooling.runs.imports import import_run
from pooling.runs.ownership import publish
from tests.evaluation.labels.test_pool_growth import extend
from tests.factories import judge_all, make_person, make_pool
from tests.page import has, read


@pytest.fixture
def owner(db) -> User:
    return make_person("owner", "researcher")


@pytest.fixture
def small(pool: Pool) -> Pool:
    made = make_pool(pool.graph, "small", sample=None, count=4, depth=1, filters=[])
    judge_all(made)
    return made


def bring(pool: Pool, folder: Path, name: str, user: User | None, topics: set[str]) -> System:
    """Import a run that answers these topics as transe does."""
    text = b"".join(whole_run(get_run(pool.graph, "transe"))).decode().splitlines()
    (folder / name).write_text("\n".join(line for line in text if line.split()[0] in topics))
    return import_run(pool.graph, folder / name, name=name, user=user).system


def asked_of(pool: Pool) -> set[str]:
    return {line.split("\t")[0] for line in pool_topics(pool)}


@pytest.mark.parametrize("with_another", [False, True])
def test_a_run_that_was_asked_some_questions_is_compared_on_these(
    small: Pool, owner: User, tmp_path: Path, with_another: bool
):
    own = bring(small, tmp_path, "mine", owner, asked_of(small))
    grown = extend(small, count=3)
    if with_another:  # an outside run that answers all but one
        bring(grown, tmp_path, "theirs", None, asked_of(grown) - {sorted(asked_of(grown))[0]})
    found = beside_published(grown, own.run)
    rows = dict(found.rows)
    assert rows["mine"] == rows["transe"]
    assert 0 < found.compared["questions"] < found.compared["of"]
    publish(own, owner)
    shown = metrics(grown, "current", MEASURES)
    assert shown["compared"] | {"systems": found.compared["systems"]} == found.compared  # in another order
    assert found.notes == list(compared_notes(shown["compared"]))
    assert {name: dict(zip(MEASURES, row, strict=True)) for name, row in rows.items()} == shown["systems"]


def test_the_page_says_on_how_many_questions_it_compares(small: Pool, owner: User, tmp_path: Path, client: Client):
    own = bring(small, tmp_path, "mine", owner, asked_of(small))
    client.force_login(owner, backend="config.sign_in.Accounts")
    address = "/graphs/town/runs/mine?pool=small"
    assert not has(client.get(address), "compared")
    grown = extend(small, count=3)
    [note] = beside_published(grown, own.run).notes
    assert read(client.get(address)).texts("compared") == [note]


def test_a_run_asked_less_than_half_is_compared_where_it_is_asked_for(small: Pool, owner: User, tmp_path: Path):
    own = bring(small, tmp_path, "mine", owner, {list(seed_topics(small))[1].split("\t")[0]})
    found = beside_published(small, own.run, "seeds")
    assert (found.compared["questions"], found.compared["dropped"]) == (1, {})
    rows = dict(found.rows)
    assert rows["mine"] == rows["transe"]


def test_a_run_made_for_other_questions_is_refused_with_what_to_do(small: Pool, owner: User, tmp_path: Path):
    text = b"".join(whole_run(get_run(small.graph, "transe"))).decode().splitlines()
    table = whole_table(small)
    other = next(line.split()[0] for line in text if line.split()[0] not in asked_of(small))
    own = bring(small, tmp_path, "mine", owner, {other})
    with pytest.raises(EvaluationError) as caught:
        beside_published(small, own.run, "seeds")
    assert "export_topics small FILE" in str(caught.value)
    assert whole_table(small) is table
