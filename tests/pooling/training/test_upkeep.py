"""Systems are cloned, trained anew, archived and taken back; what others rest on does not change."""

from __future__ import annotations

import pytest

from core.enums import JobState
from core.files.artifacts import artifact_path
from core.models import AuditEntry, Job
from pooling.enums import PoolingAct, PoolingJob, SystemState
from pooling.models import Graph, Pool, System
from pooling.training.train import SystemError_, create_systems
from pooling.training.upkeep import add_system, archive, free_name, free_seed, restore, train_anew, uses_of
from tests.factories import make_job, make_person, make_pool, make_system

QUICK = {"embedding_dim": "4", "epochs": "2"}


def add(graph: Graph, name: str, seed: int = 0, **overrides: str) -> System:
    return add_system(graph, "transe", name=name, seed=seed, overrides={**QUICK, **overrides}, device="cpu", user=None)


def test_a_system_is_added_under_a_name_with_its_settings_and_its_job(town: Graph):
    person = make_person("boss", "manager")
    made = add_system(town, "rotate", name="wide", seed=3, overrides={"embedding_dim": 128}, device="cpu", user=person)
    made.refresh_from_db()
    assert (made.name, made.kind, made.seed, made.state) == ("wide", "rotate", 3, SystemState.WAITING)
    assert (made.settings["embedding_dim"], made.settings["device"]) == (128, "cpu")
    assert made.artifact == f"systems/{made.pk}"
    assert list(Job.objects.values_list("kind", "system", "created_by")) == [(PoolingJob.TRAIN, made.pk, person.pk)]


@pytest.mark.parametrize(
    ("name", "seed", "overrides", "message"),
    [
        ("one", 1, {}, "Graph town has a system one already: choose another name."),
        ("two words", 1, {}, "System name 'two words': use letters, digits, - and _, at most 80."),
        (
            "two", 0, {},
            "one has the same settings and seed 0: change one of them, or use that system.",
        ),
        ("two", 1, {"epochs": "0"}, "setting epochs=0: must be a whole number from 1 to 10,000"),
    ],
)  # fmt: skip
def test_what_cannot_be_added_is_said(town: Graph, name, seed, overrides, message):
    add(town, "one")
    with pytest.raises(SystemError_) as caught:
        add(town, name, seed, **overrides)
    assert str(caught.value) == message
    assert System.objects.count() == Job.objects.count() == 1


def test_free_names_and_seeds(town: Graph):
    assert (free_name(town, "transe"), free_seed(town, "transe")) == ("transe", 0)
    create_systems(town, ["transe"], QUICK, seeds=2)
    System.objects.filter(seed=1).update(name="transe-2")
    assert (free_name(town, "transe"), free_seed(town, "transe")) == ("transe-3", 2)


def anew(system: System, seed: int = 7, **overrides: str) -> Job:
    return train_anew(system, seed=seed, overrides={**QUICK, **overrides}, device="cpu", user=None)


@pytest.mark.django_db(transaction=True)
def test_training_anew_forgets_what_was_learned(town: Graph):
    system = make_system(town, "transe")
    System.objects.update(best_of_seeds=True, note="stopped", peak_bytes=5, history=[{"epoch": 1}])
    folder = artifact_path(system.artifact)
    assert (folder / "best.pt").exists()
    job = anew(system, epochs="3")
    system.refresh_from_db()
    assert (system.state, system.seed, system.settings["epochs"]) == (SystemState.WAITING, 7, 3)
    assert (system.epochs_done, system.best_epoch, system.history, system.sha256) == (0, 0, [], "")
    assert (system.validation_mrr, system.peak_bytes, system.note) == (None, None, "")
    assert system.best_of_seeds is False
    assert (job.kind, job.system) == (PoolingJob.TRAIN, system)
    second = system.artifact
    assert second.startswith(f"systems/{system.pk}-")
    assert not folder.exists()  # or its checkpoint would be taken up
    assert AuditEntry.objects.filter(act=PoolingAct.SYSTEM_RETRAINED, about="town/transe").count() == 1
    Job.objects.update(state=JobState.DONE)
    anew(system, seed=8)
    system.refresh_from_db()
    assert system.artifact not in (second, f"systems/{system.pk}")


@pytest.mark.django_db(transaction=True)
def test_seeds_that_waited_for_one_that_is_trained_anew_are_chosen_from(town: Graph):
    first, second = make_system(town, "transe"), make_system(town, "transe", seed=1)
    failed = make_system(town, "transe", seed=2, trained=False)
    System.objects.update(best_of_seeds=True, validation_mrr=0.1, settings=first.settings)
    System.objects.filter(pk=second.pk).update(validation_mrr=0.2)
    System.objects.filter(pk=failed.pk).update(state=SystemState.FAILED)
    anew(failed, epochs="3")
    assert list(System.objects.filter(archived=True)) == [first]


def test_a_system_with_a_run_and_a_pool_stays_as_it_is(trained: Graph):
    make_pool(trained)
    system = System.objects.get(name="transe")
    before = (system.artifact, system.sha256)
    assert uses_of(system) == ["it has a run", "pool p uses it"]
    with pytest.raises(SystemError_) as caught:
        anew(system)
    assert str(caught.value) == ("transe stays as it is, since it has a run and pool p uses it: clone it instead.")
    Pool.objects.get().systems.clear()
    with pytest.raises(SystemError_, match="transe stays as it is, since it has a run: clone it instead"):
        anew(System.objects.get(name="transe"))
    system.refresh_from_db()
    assert (system.artifact, system.sha256) == before
    assert artifact_path(system.artifact).exists()


@pytest.mark.parametrize("act", [anew, lambda system: archive(system, None)])
def test_what_a_job_works_on_is_left_alone(town: Graph, act):
    system = make_system(town, "transe", trained=False)
    job = make_job(PoolingJob.TRAIN, JobState.RUNNING, system=system)
    with pytest.raises(SystemError_) as caught:
        act(system)
    assert str(caught.value) == (f"Job {job.pk} is at work on transe: cancel it first, or wait for its end.")
    system.refresh_from_db()
    assert system.archived is False


def test_archiving_and_taking_back_are_in_the_audit_log_once(town: Graph):
    person, system = make_person("boss", "manager"), make_system(town, "transe")
    archive(system, person)
    archive(system, person)
    system.refresh_from_db()
    assert system.archived is True
    restore(system, person)
    restore(system, person)
    system.refresh_from_db()
    assert system.archived is False
    entries = AuditEntry.objects.filter(about="town/transe").order_by("id").values_list("act", "person")
    assert list(entries) == [(PoolingAct.SYSTEM_ARCHIVED, person.pk), (PoolingAct.SYSTEM_RESTORED, person.pk)]


def test_archiving_a_failed_seed_lets_the_others_be_compared(town: Graph):
    systems = create_systems(town, ["transe"], QUICK, seeds=3, best=True)
    System.objects.filter(pk__in=[s.pk for s in systems[:2]]).update(state=SystemState.TRAINED)
    System.objects.filter(pk=systems[1].pk).update(validation_mrr=0.5)
    archive(System.objects.get(pk=systems[2].pk), None)
    assert [s.archived for s in System.objects.order_by("id")] == [True, False, True]
