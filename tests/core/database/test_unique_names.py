"""Two people who use one name at the same moment: the second reads what a later one reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import IntegrityError

from annotation.campaigns import lifecycle
from annotation.errors import CampaignError
from annotation.judging import label_import
from annotation.models import Campaign
from core.database import named_once
from core.errors import UserError
from evaluation.models import Study
from evaluation.open_world import study
from pooling.errors import PoolError
from pooling.models import Graph, Pool, System
from pooling.pools import build as pools
from pooling.runs import imports
from pooling.runs.files import question_id
from pooling.runs.trec_write import trec_word
from pooling.training import upkeep
from tests.factories import make_pool
from tests.factories import town as facts


def seed_file(folder: Path) -> Path:
    (folder / "s.tsv").write_text("".join("\t".join(row) + "\n" for row in facts()["test"][:3]))
    return folder / "s.tsv"


def pool_of(graph: Graph) -> Pool:
    return Pool.objects.create(graph=graph, name="p", origin="built", depth=1)


def system_of(graph: Graph) -> System:
    return System.objects.create(graph=graph, kind="transe", name="theirs", artifact="x", settings={"a": 1})


@pytest.fixture
def meanwhile(monkeypatch) -> Callable[..., None]:
    """meanwhile(module, step, act): somebody acts right after this step of the module."""

    def patch(module: object, step: str, act: Callable[[], object]) -> None:
        real = getattr(module, step)

        def after(*args: object, **options: object) -> object:
            done = real(*args, **options)
            monkeypatch.setattr(module, step, real)
            act()
            return done

        monkeypatch.setattr(module, step, after)

    return patch


TAKEN = "There is a pool 'p' already: choose another name, or go on with that one."


def test_of_two_pools_that_are_made_at_once_the_second_is_refused(trained: Graph, meanwhile):
    meanwhile(pools, "draw_seeds", lambda: pool_of(trained))
    with pytest.raises(PoolError) as caught:
        pools.create_pool(trained, name="p", sample=0.5)
    assert str(caught.value) == TAKEN
    assert Pool.objects.get().seeds.count() == 0


def test_of_two_pools_that_are_imported_at_once_the_second_is_refused(town, meanwhile, tmp_path):
    (tmp_path / "p.tsv").write_text("p7\tknows\tp7\t1\n")
    meanwhile(pools, "read_pool_file", lambda: pool_of(town))
    with pytest.raises(PoolError) as caught:
        pools.import_pool(town, name="p", file=tmp_path / "p.tsv", seeds_file=seed_file(tmp_path))
    assert str(caught.value) == TAKEN


def test_of_two_systems_that_are_added_at_once_the_second_is_refused(town, meanwhile):
    meanwhile(upkeep, "check_name", lambda: system_of(town))
    with pytest.raises(UserError) as caught:
        upkeep.add_system(town, "transe", name="theirs", seed=0, overrides={}, device="cpu", user=None)
    assert str(caught.value) == "Graph town has a system theirs already: choose another name."


def test_of_two_runs_that_are_imported_at_once_the_second_is_refused(town, meanwhile, tmp_path, artifact_root):
    head, relation, tail = facts()["test"][0]
    (tmp_path / "run.txt").write_text(f"{question_id(0, head, relation)} Q0 {trec_word(tail)} 1 0.5 them\n")
    meanwhile(imports, "write_run", lambda: system_of(town))
    with pytest.raises(UserError) as caught:
        imports.import_run(town, tmp_path / "run.txt", name="theirs")
    assert str(caught.value) == "Graph town has a system theirs already: choose another name."
    assert list((artifact_root / "runs").iterdir()) == []


def test_of_two_campaigns_that_are_opened_at_once_the_second_is_refused(trained: Graph, meanwhile):
    pool = make_pool(trained)
    meanwhile(lifecycle, "ensure_templates", lambda: Campaign.objects.create(pool=pool))
    with pytest.raises(CampaignError) as caught:
        lifecycle.open_campaign(pool)
    assert str(caught.value) == "The campaign of pool p is already open."


@pytest.mark.django_db
def test_of_two_studies_that_are_made_at_once_the_second_is_refused(meanwhile):
    meanwhile(study, "named_once", lambda: Study.objects.create(name="s", options={}))
    with pytest.raises(study.StudyError) as caught:
        study.begin_study("s", study.SMALL)
    assert str(caught.value) == "There is a study s already: choose another name, or go on with that one."


def test_of_two_imports_of_a_file_of_labels_at_once_the_second_adds_nothing(trained: Graph, monkeypatch, tmp_path):
    """SQLite has one writer at a time; on PostgreSQL the second waits at `one_at_a_time`."""
    asked = []
    monkeypatch.setattr(label_import, "one_at_a_time", asked.append)
    pool = make_pool(trained)
    (tmp_path / "l.tsv").write_text("".join("\t".join([*row, "Y"]) + "\n" for row in facts()["test"]))
    label_import.import_labels(pool, tmp_path / "l.tsv")
    assert asked == [f"import labels into pool {pool.pk}"]


@pytest.mark.django_db
def test_what_the_database_refuses_for_another_reason_is_not_taken_for_a_name():
    with pytest.raises(IntegrityError), named_once(lambda: None):
        Pool.objects.create(graph_id=None, name="p", origin="built", depth=1)
