"""Runs of people: private until published, seen by owner and managers; replaced, deleted, or kept for others."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.test import Client
from django.urls import reverse

from core.errors import GoneError
from core.files.artifacts import artifact_path
from core.models import AuditEntry
from evaluation.labels.pool_table import pool_table, ranks_version
from evaluation.labels.qrels import freeze_qrels
from evaluation.overview.own_run import beside_published
from pooling.models import Graph, Pool, Run, System
from pooling.runs import export, files, score
from pooling.runs.export import whole_run
from pooling.runs.files import read_ranks, read_returned, read_topk
from pooling.runs.imports import import_run
from pooling.runs.ownership import OwnerError, delete_run, may_change, publish, visible_runs
from pooling.runs.trec_read import TrecError
from pooling.training.train import SystemError_, create_systems, get_systems, shown_systems
from pooling.training.upkeep import free_name
from tests.factories import make_person


@pytest.fixture
def owner(db) -> User:
    return make_person("owner", "researcher")


@pytest.fixture
def manager(db) -> User:
    return make_person("boss", "manager")


@pytest.fixture
def exported(pool: Pool, tmp_path: Path) -> Path:
    run = Run.objects.get(system__graph=pool.graph, system__name="transe")
    (tmp_path / "run").write_bytes(b"".join(whole_run(run)))
    return tmp_path / "run"


@pytest.fixture
def own(pool: Pool, exported: Path, owner: User) -> System:
    return import_run(pool.graph, exported, name="mine", pool=pool, user=owner).system


def test_a_private_run_is_in_nothing_that_everybody_sees(pool: Pool, own: System, owner: User, manager: User):
    others = [make_person("other", "researcher"), make_person("ann"), AnonymousUser()]
    assert own.private and own.owner == owner
    for seen in (System.objects, own.graph.systems, shown_systems(pool)):
        assert not seen.filter(name="mine").exists()
    with pytest.raises(SystemError_):
        get_systems(pool.graph, ["mine"])
    assert pool_table(pool).systems == ["transe", "distmult", "complex"]
    for person, sees in ((owner, True), (manager, True), *((other, False) for other in others)):
        assert visible_runs(person).filter(system=own).exists() == sees
        assert may_change(person, own) == sees
    with pytest.raises(SystemError_, match="has a system mine already"):
        import_run(pool.graph, Path("none"), name="mine")


def test_what_managers_and_commands_bring_is_published(pool: Pool, exported: Path, manager: User):
    for name, person in (("a", manager), ("b", None)):
        system = import_run(pool.graph, exported, name=name, pool=pool, user=person).system
        assert (system.private, system.owner) == (False, person)


def test_the_owner_compares_it_and_nothing_is_kept(pool: Pool, own: System):
    before = ranks_version(pool)
    found = dict(beside_published(pool, own.run, "seeds").rows)
    assert found["mine"] == found["transe"] and len(found) == 4  # the same lists: the same figures
    assert ranks_version(pool) == before and pool_table(pool).systems == ["transe", "distmult", "complex"]


def test_publishing_is_once_and_for_everybody(pool: Pool, own: System, owner: User):
    with pytest.raises(OwnerError, match="belongs to somebody else"):
        publish(own, make_person("other", "researcher"))
    publish(own, owner)
    publish(own, owner)
    assert pool_table(pool).systems == ["transe", "distmult", "complex", "mine"]
    assert [entry.about for entry in AuditEntry.objects.filter(act="run-published")] == ["town/mine"]


def test_replacing_keeps_name_and_owner_and_is_all_or_nothing(
    pool: Pool, own: System, owner: User, exported: Path, tmp_path: Path
):
    old = Run.every.get(system=own)
    short = tmp_path / "short"
    short.write_bytes(b"".join(exported.read_bytes().splitlines(keepends=True)[:1]))
    bad = tmp_path / "bad"
    bad.write_text("a b\n")
    with pytest.raises(TrecError):
        import_run(pool.graph, bad, name="mine", replaces=own, user=owner)
    with pytest.raises(OwnerError, match="belongs to somebody else"):
        import_run(pool.graph, short, name="mine", replaces=own, user=make_person("other", "researcher"))
    assert Run.every.get(system=own).artifact == old.artifact
    own.refresh_from_db()
    import_run(pool.graph, short, name="mine", replaces=own, user=owner)
    own.refresh_from_db()
    new = Run.every.get(system=own)
    assert (own.name, own.owner, own.private, own.settings["file"]) == ("mine", owner, True, "short")
    assert (new.pk, new.num_questions) == (old.pk, 1)
    assert artifact_path(new.artifact).exists()


@pytest.mark.django_db(transaction=True)
def test_files_go_after_the_rows(pool: Pool, own: System, owner: User, exported: Path):
    old = artifact_path(Run.every.get(system=own).artifact)
    import_run(pool.graph, exported, name="mine", replaces=own, user=owner)
    assert not old.exists()
    folder = artifact_path(Run.every.get(system=own).artifact)
    delete_run(own, owner)
    assert not folder.exists() and not System.every.filter(name="mine").exists()


def test_what_others_rest_on_stays(pool: Pool, own: System, owner: User, exported: Path):
    publish(own, owner)
    freeze_qrels(pool, "v1")
    with pytest.raises(OwnerError, match=r"mine cannot be deleted, since others rest on it\. The test set of qrels"):
        delete_run(own, owner)
    pool.systems.add(own)
    with pytest.raises(OwnerError, match=r"mine cannot be replaced.* Pool p was built with it"):
        import_run(pool.graph, exported, name="mine", replaces=own, user=owner)
    assert Run.objects.filter(system=own).exists()


@pytest.mark.parametrize("read", [read_topk, read_ranks, read_returned, lambda run: b"".join(whole_run(run))])
def test_a_reader_of_a_run_that_was_deleted_meanwhile_is_told_so(own: System, owner: User, read):
    old = Run.every.select_related("system__graph").get(system=own)
    files._cache.clear()
    with transaction.atomic():
        delete_run(own, owner)
    shutil.rmtree(artifact_path(old.artifact))
    with pytest.raises(GoneError, match="was deleted in the meantime"):
        read(old)


def test_publishing_a_run_that_is_deleted_meanwhile_says_so(own: System, owner: User, monkeypatch):
    original = score.read_topk

    def slow(run: Run):
        System.every.get(pk=own.pk).delete()
        shutil.rmtree(artifact_path(run.artifact))
        files._cache.clear()
        return original(run)

    monkeypatch.setattr(score, "read_topk", slow)
    with pytest.raises(GoneError):
        publish(own, owner)


def test_a_download_is_of_one_moment_of_a_run(own: System, owner: User, exported: Path, monkeypatch):
    """The lists and the places of known entities are in two files: another run comes between them."""
    old = Run.every.select_related("system__graph").get(system=own)
    first = exported.read_bytes().splitlines(keepends=True)
    (exported.parent / "other").write_bytes(b"".join(first[: len(first) // 2]))
    original = export.read_candidates

    def slow(run: Run):
        monkeypatch.setattr(export, "read_candidates", original)
        import_run(own.graph, exported.parent / "other", name="mine", replaces=own, user=owner)
        return original(run)

    monkeypatch.setattr(export, "read_candidates", slow)
    mixed = b"".join(whole_run(old))
    assert mixed == b"".join(whole_run(Run.every.select_related("system__graph").get(system=own)))


def test_systems_of_the_site_belong_to_nobody(trained: Graph, manager: User):
    with pytest.raises(OwnerError, match="transe is a system of this site"):
        delete_run(System.objects.get(name="transe"), manager)


def test_the_name_of_a_private_run_is_taken_for_systems_too(pool: Pool, exported: Path, owner: User):
    import_run(pool.graph, exported, name="rotate", pool=pool, user=owner)
    with pytest.raises(SystemError_, match="rotate was imported as a run"):
        create_systems(pool.graph, ["rotate"], {})
    assert free_name(pool.graph, "rotate") == "rotate-2"


def test_graphs_count_published_systems_alone(pool: Pool, own: System, manager: User):
    client = Client()
    client.force_login(manager)
    [graph] = client.get(reverse("graphs")).context["page"]
    [usable] = client.get(reverse("pool-new")).context["graphs"]
    assert (graph.num_systems, usable.trained) == (3, 3)
