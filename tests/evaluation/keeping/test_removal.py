"""What goes with a graph, system, pool or study, why it may have to stay, and that nothing else goes."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connection

from annotation.models import Campaign, ImportedLabel, Item, Judgement, Label, Slot, SurplusLabel
from core.enums import JobState
from core.errors import GoneError, UserError
from core.files.artifacts import artifact_path
from core.models import AuditEntry, Job
from evaluation.enums import EvaluationJob
from evaluation.keeping import removal
from evaluation.keeping.archive import KeepingError
from evaluation.keeping.removal import find_subject, preview, remove
from evaluation.keeping.tables import tables
from evaluation.labels.qrels import freeze_qrels, read_frozen
from evaluation.models import Figure, Qrels, Study
from evaluation.test_sets.imports import import_test_set
from pooling.enums import PoolingAct, PoolingJob
from pooling.models import Graph, Pool, Relation, Run, System
from pooling.pools.growth import extend_pool
from pooling.training.upkeep import archive as archive_system
from tests.annotation.factories import World, label_item, make_world
from tests.evaluation.studies import make_study
from tests.factories import make_job, make_person, make_pool, make_systems, make_town, names_of


def counts() -> dict[str, int]:
    return {table.name: n for table in tables() if (n := table.model._base_manager.count())}


def committed(django_capture_on_commit_callbacks, act):
    with django_capture_on_commit_callbacks(execute=True):
        return act()


def test_a_pool_goes_with_all_of_its_own_and_nothing_else(labelled: Pool, django_capture_on_commit_callbacks):
    before = counts()
    run = artifact_path(Run.objects.first().artifact)
    other = make_pool(labelled.graph, "other")
    raw = "\t".join([*names_of(labelled.graph, other.seeds.values_list("head", "relation", "tail")[0]), "1"])
    from evaluation.labels.import_qrels import import_qrels

    qrels = import_qrels(other, "theirs", raw.encode(), "f.tsv")
    Figure.objects.create(pool=other, key="k", content={})
    boss = make_person("boss", "manager")
    seen = preview(other)
    gone = committed(django_capture_on_commit_callbacks, lambda: remove(other, boss))
    assert gone == seen
    assert gone.rows == [  # the subject first, then as Django lists what refers to it
        ("pools", 1),
        ("seed triples", labelled.seeds.count()),
        ("pooled triples", labelled.triples.count()),
        ("qrels", 1),
        ("figures", 1),
        ("jobs", 1),
    ]
    assert (gone.files, gone.bytes) == (1, artifact_size(gone))
    assert not artifact_path(qrels.artifact).exists() and run.exists()
    after = counts()
    assert after.pop("core.AuditEntry") > before.pop("core.AuditEntry", 0)
    assert after.pop("auth.User") == 1 and after.pop("auth.User_groups") == 1
    after.pop("auth.Group"), before.pop("auth.Group", None)
    assert after == before
    entry = AuditEntry.objects.first()
    assert (entry.act, entry.about, entry.person, entry.pool) == (PoolingAct.POOL_DELETED, "other", boss, None)
    assert entry.details["rows"] == dict(gone.rows)


def artifact_size(gone: removal.Preview) -> int:
    assert gone.files == 1 and gone.bytes > 300
    return gone.bytes


@pytest.mark.parametrize("kind", ["graph", "system", "pool", "study"])
def test_what_somebody_else_deleted_first_is_deleted_and_recorded_once(town: Graph, kind: str):
    """Eight requests at once told eight people that they had deleted it, and the audit log too."""
    make_systems(town)
    subject = {
        "graph": lambda: town,
        "system": lambda: town.systems.first(),
        "pool": lambda: make_pool(town, "other"),
        "study": lambda: make_study("alike"),
    }[kind]()
    same = type(subject)._base_manager.get(pk=subject.pk)
    remove(subject, None)
    with pytest.raises(GoneError, match="deleted already"):
        remove(same, None)
    assert AuditEntry.objects.filter(act=f"{kind}-deleted").count() == 1


def test_a_graph_goes_with_systems_runs_pools_and_their_folders(
    labelled: Pool, tmp_path: Path, django_capture_on_commit_callbacks
):
    graph, kept = labelled.graph, make_town(tmp_path / "kept", "kept")
    make_systems(kept, ["transe"])
    folders = [artifact_path(row.artifact) for row in (graph, *graph.systems.all(), *Run.objects.all())]
    assert len(folders) == 7 and all(folder.is_dir() for folder in folders)
    committed(django_capture_on_commit_callbacks, lambda: remove(graph, None))
    assert list(Graph.objects.all()) == [kept]
    assert list(System.objects.values_list("graph", flat=True)) == [kept.pk]
    assert [m.objects.count() for m in (Run, Pool, Job, Judgement)] == [0, 0, 0, 0]
    assert set(Relation.objects.values_list("graph", flat=True)) == {kept.pk}
    assert [folder for folder in folders if folder.exists()] == []
    assert artifact_path(kept.artifact).is_dir()


@pytest.fixture
def world(db, tmp_path: Path) -> World:
    made = make_world(tmp_path / "graph")
    label_item(made, made.campaign.items.first(), ann="Y", ben="N")
    return made


def test_labels_of_people_keep_a_pool_and_its_graph(world: World):
    before = counts()
    reason = (
        "It holds 2 labels of people, which nobody can make again: archive it instead. If you are sure, make a backup "
        "and delete it on the server: remove {} --with-labels."
    )
    assert preview(world.pool).refused == [reason.format("pool p1")]
    assert preview(world.pool.graph).refused == [reason.format("graph small")]
    for subject in (world.pool, world.pool.graph):
        with pytest.raises(KeepingError, match=r"^\w+ stays\. It holds 2 labels of people"):
            remove(subject, None)
    assert counts() == before


def test_answers_that_no_judgement_counts_are_told_apart_from_the_labels_of_the_card(world: World):
    label = Label.objects.order_by("pk").first()
    assert label is not None
    fields = ("slot", "item", "annotator", "template")
    changed = {name: getattr(label, name) for name in fields}
    Label.objects.create(supersedes=label, answer="Y", client_id=uuid4(), **changed)
    of_item = {name: changed[name] for name in fields if name != "slot"}
    SurplusLabel.objects.create(answer="Y", client_id=uuid4(), **of_item)
    told = "It holds 2 labels of people and 2 answers of people that no judgement counts (changed, withdrawn, late, or "
    assert preview(world.pool).refused[0].startswith(told + "to a check), which nobody can make again")
    qrels = freeze_qrels(world.pool, "v1")
    assert f"{len(read_frozen(qrels).labels)} labels of people" in preview(world.pool).refused[0]
    assert preview(world.pool, with_labels=True).refused == []


def test_with_labels_everything_of_the_campaign_goes_and_people_stay(world: World):
    freeze_qrels(world.pool, "v1")
    assert preview(world.pool).refused[0].startswith("It holds 2 labels of people and 1 frozen qrels, which")
    seen = preview(world.pool, with_labels=True)
    assert seen.refused == []
    assert {"labels": 2, "items": 6, "slots": 13, "qrels": 1, "batches": 1}.items() <= dict(seen.rows).items()
    entries = AuditEntry.objects.filter(pool=world.pool).count()
    remove(world.pool, None, with_labels=True)
    connection.check_constraints()
    assert [m.objects.count() for m in (Pool, Campaign, Item, Slot, Label, Judgement, Qrels)] == [0] * 7
    assert entries and AuditEntry.objects.filter(pool=None).count() == AuditEntry.objects.count() > entries
    assert Graph.objects.count() == 1
    assert type(world.ann).objects.count() == 7


def test_a_label_that_comes_while_a_pool_is_deleted_keeps_it(tmp_path: Path, db, monkeypatch):
    """It was not there when the labels were counted, and is there when they go."""
    world, let_go = make_world(tmp_path / "graph"), removal._clear_references

    def late(going: removal.Going) -> None:
        label_item(world, world.campaign.items.first(), ann="Y")
        let_go(going)

    monkeypatch.setattr(removal, "_clear_references", late)
    with pytest.raises(KeepingError) as caught:
        remove(world.pool, None)
    assert str(caught.value) == "p1 stays: somebody has labelled it in this moment."
    assert (Pool.objects.count(), Item.objects.count()) == (1, 6)
    remove(world.pool, None, with_labels=True)
    assert (Pool.objects.count(), Label.objects.count()) == (0, 0)


def test_frozen_qrels_alone_keep_a_pool_and_imported_ones_do_not(town: Graph):
    tests = [names_of(town, triple) for triple in ((0, 0, 1),)]
    assert tests
    from pooling.graphs.opening import open_graph

    arrays = open_graph(town)
    fact = arrays.test[0].tolist()
    known = {tuple(t) for split in (arrays.train, arrays.valid, arrays.test) for t in split.tolist()}
    free = next((h, 0, t) for h in range(20) for t in range(20) if (h, 0, t) not in known)
    raw = "".join("\t".join([*names_of(town, t), "1"]) + "\n" for t in (fact, free))
    pool = import_test_set(town, raw.encode(), "f.tsv", name="theirs").pool
    assert preview(pool).refused == []
    freeze_qrels(pool, "v1")
    assert [reason.partition(",")[0] for reason in preview(pool).refused] == ["It holds 1 frozen qrels"]
    remove(pool, None, with_labels=True)
    assert ImportedLabel.objects.count() == 0


def test_a_job_at_work_keeps_what_it_works_on(labelled: Pool):
    system = labelled.graph.systems.get(name="transe")
    job = make_job(PoolingJob.SCORE, JobState.RUNNING, pool=labelled, system=system)
    reason = f"Job {job.pk} is at work on it: cancel it first, or wait for its end."
    for subject in (labelled, labelled.graph, system):
        assert preview(subject).refused[0] == reason
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE)
    assert preview(labelled).refused == []


def test_a_system_that_an_extension_is_adding_stays(labelled: Pool):
    """Only the params of the job name it."""
    system = labelled.graph.systems.get(name="complex")
    labelled.systems.remove(system)
    labelled.contributors.remove("complex")
    labelled.save()
    job = extend_pool(labelled, systems=["complex"])
    reason = f"Job {job.pk} is at work on it: cancel it first, or wait for its end."
    assert preview(system).refused == [reason]
    message = f"Job {job.pk} is at work on complex: cancel it first, or wait for its end."
    with pytest.raises(UserError) as caught:
        archive_system(system, None)
    assert str(caught.value) == message
    assert preview(labelled.graph.systems.get(name="transe")).refused == ["Pool p uses it: archive it instead."]
    Job.objects.update(state=JobState.DONE)
    assert preview(system).refused == []


def test_a_system_goes_with_its_run_unless_a_pool_uses_it(labelled: Pool, django_capture_on_commit_callbacks):
    system = labelled.graph.systems.get(name="transe")
    assert preview(system).refused == ["Pool p uses it: archive it instead."]
    labelled.systems.remove(system)
    folders = [artifact_path(system.artifact), artifact_path(system.run.artifact)]
    assert dict(preview(system).rows) == {"systems": 1, "runs": 1}
    committed(django_capture_on_commit_callbacks, lambda: remove(system, None))
    assert list(labelled.graph.systems.values_list("name", flat=True)) == ["distmult", "complex"]
    assert [folder.exists() for folder in folders] == [False, False]


def test_a_system_that_a_frozen_test_set_measures_stays(labelled: Pool):
    freeze_qrels(labelled, "v1")
    system = labelled.graph.systems.get(name="transe")
    labelled.systems.remove(system)
    assert preview(system).refused == ["The test set of qrels p/v1 measures it: archive it instead."]
    assert preview(system, with_labels=True).refused == []


def test_a_study_keeps_its_graphs_and_systems_and_goes_with_them(db):
    study = make_study()
    run = study.runs.select_related("graph", "system").first()
    reason = "Open-world study tiny rests on it: delete the study instead."
    assert preview(run.graph).refused == [reason]
    assert preview(run.system).refused == [reason]
    pool = Pool.objects.create(graph=run.graph, name="on-it", origin="imported", depth=1, seed_source="x")
    assert preview(study).refused == ["Pool on-it is on a graph of the study: delete the pool first."]
    remove(pool, None)
    job = make_job(EvaluationJob.OPEN_WORLD, params={"study": "tiny"})
    assert preview(study).refused == ["It is under way: cancel its jobs first, or wait for their end."]
    job.delete()
    rows = dict(preview(study).rows)
    assert {"studies": 1, "graphs": 2, "systems": 4, "study runs": 4}.items() <= rows.items()
    remove(study, None)
    assert [m.objects.count() for m in (Study, Graph, System)] == [0, 0, 0]


def test_files_stay_when_the_rows_do(labelled: Pool, monkeypatch, django_capture_on_commit_callbacks):
    """The last step of the transaction fails: rows and files are as they were."""
    before = counts()
    folder = artifact_path(labelled.graph.artifact)
    monkeypatch.setattr(removal, "record", lambda *args, **kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError), django_capture_on_commit_callbacks(execute=True):
        remove(labelled.graph, None)
    assert counts() == before and folder.is_dir()


def test_a_row_without_files_takes_no_others_with_it(town: Graph, django_capture_on_commit_callbacks):
    """A system that was just made has an empty `artifact`: that is not the whole artifact folder."""
    system = System.objects.create(graph=town, name="new", kind="transe", artifact="")
    committed(django_capture_on_commit_callbacks, lambda: remove(system, None))
    assert artifact_path(town.artifact).is_dir()


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("system", "town/none", "There is no system 'town/none'. Systems of town: none."),
        ("system", "none/x", "There is no graph none. Graphs: town."),
        ("pool", "none", "There is no pool 'none'. Pools: none yet."),
        ("study", "none", "There is no open-world study none. Studies: none yet."),
    ],
)
def test_what_is_not_there_is_said(town: Graph, kind: str, name: str, message: str):
    with pytest.raises(Exception) as caught:
        find_subject(kind, name)
    assert str(caught.value) == message
