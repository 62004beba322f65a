"""Systems: made from the registry, trained, stopped, found again."""

from __future__ import annotations

import pytest

from core.files.artifacts import artifact_path, sha256_of
from core.jobs.execution import execute
from core.jobs.progress import Progress
from core.models import Job
from pooling.enums import PoolingJob, SystemState
from pooling.models import Graph, System
from pooling.training.train import SystemError_, create_systems, get_systems, settings_of_kinds
from tests.factories import make_job, make_system

QUICK = {"embedding_dim": "4", "epochs": "2"}


def test_systems_of_several_seeds_have_rows_of_their_own(town: Graph):
    made = create_systems(town, ["transe", "rotate", "transe"], QUICK, seeds=2, device="cpu")
    assert [(s.name, s.kind, s.seed) for s in made] == [
        ("transe", "transe", 0),
        ("transe-s1", "transe", 1),
        ("rotate", "rotate", 0),
        ("rotate-s1", "rotate", 1),
    ]
    assert {(s.settings["epochs"], s.settings["device"], s.state) for s in made} == {(2, "cpu", "waiting")}
    assert [s.artifact for s in made] == [f"systems/{s.pk}" for s in made]


def test_systems_that_exist_are_returned_but_not_with_other_settings(town: Graph):
    (made,) = create_systems(town, ["transe"], QUICK)
    assert create_systems(town, ["transe"], {}) == create_systems(town, ["transe"], QUICK) == [made]
    System.objects.update(epochs_done=1)
    with pytest.raises(SystemError_) as caught:
        create_systems(town, ["distmult", "transe"], {"epochs": "3"})
    assert str(caught.value) == (
        "System transe of graph town was trained with other settings, which stay with it. "
        "Leave the settings as they are to keep it, or clone it on its page and train the clone."
    )
    assert [s.name for s in System.objects.all()] == ["transe"]


def test_settings_are_free_until_an_epoch_was_trained_and_the_device_until_the_end(town: Graph):
    create_systems(town, ["transe"], QUICK, device="cuda")
    (system,) = create_systems(town, ["transe"], {}, device="cpu")
    assert (system.settings["epochs"], system.settings["device"]) == (int(QUICK["epochs"]), "cpu")
    (system,) = create_systems(town, ["transe"], {"epochs": "7"})
    assert (system.settings["epochs"], system.settings["device"]) == (7, "auto")
    System.objects.update(epochs_done=2)
    (system,) = create_systems(town, ["transe"], {"epochs": "7"}, device="cpu")
    assert (system.settings["epochs"], system.settings["device"]) == (7, "cpu")


@pytest.mark.django_db(transaction=True)
def test_a_gpu_that_is_not_there_is_said_and_another_device_may_be_taken(town: Graph, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    (system,) = create_systems(town, ["distmult"], QUICK, device="cuda")
    assert train(system).error == (
        "distmult is to be trained on a GPU, and PyTorch sees none at this worker: start a worker where there is one, "
        "or choose the device auto or cpu."
    )
    (system,) = create_systems(town, ["distmult"], QUICK, device="cpu")
    assert train(system).state == "done"


@pytest.mark.parametrize(
    ("kinds", "overrides", "seeds", "message"),
    [
        (["transE"], {}, 1, "unknown system 'transE' (did you mean transe?): the known systems are transe, "),
        (["transe"], {"epochs": "0"}, 1, "setting epochs=0: must be a whole number from 1 to 10,000"),
        (["transe"], {"depth": "1"}, 1, "transe has no setting 'depth': it has batch_size, "),
        (["transe", "conve"], {"epoch": "1"}, 1, "transe has no setting 'epoch' (did you mean epochs?): it has "),
        (["transe"], {}, 0, "0 seeds of each system: give 1 or more."),
    ],
)
def test_what_cannot_be_made_is_said(town: Graph, kinds, overrides, seeds, message):
    with pytest.raises(SystemError_) as caught:
        create_systems(town, kinds, overrides, seeds)
    assert str(caught.value).startswith(message)
    assert not System.objects.exists()


def test_settings_go_to_the_systems_that_have_them(town: Graph):
    transe, conve = create_systems(town, ["transe", "conve"], {"channels": "4", "epochs": "3"})
    assert (transe.settings["epochs"], conve.settings["epochs"], conve.settings["channels"]) == (3, 3, 4)
    assert "channels" not in transe.settings
    assert settings_of_kinds(["transe"], {"channels": "4"}) == {"transe": {"channels": "4"}}  # to be refused


def test_a_model_of_pykeen_gets_a_name_that_an_address_can_hold(town: Graph):
    made = create_systems(town, ["pykeen:PairRE"], QUICK, seeds=2)
    assert [(s.name, s.kind) for s in made] == [
        ("pykeen-PairRE", "pykeen:PairRE"),
        ("pykeen-PairRE-s1", "pykeen:PairRE"),
    ]


def test_a_name_that_another_system_took_is_not_taken_for_this_one(town: Graph):
    rotate = System.objects.create(graph=town, name="complex", kind="rotate", seed=5, settings={"epochs": 9})
    with pytest.raises(SystemError_) as caught:
        create_systems(town, ["complex"], QUICK)
    assert str(caught.value) == (
        "System complex of graph town is a rotate with seed 5, which somebody called so. Clone a complex under another "
        "name in the browser."
    )
    rotate.refresh_from_db()
    assert (System.objects.count(), rotate.settings) == (1, {"epochs": 9})


def test_settings_that_an_older_row_lacks_are_those_it_was_trained_with(town: Graph):
    system = make_system(town, "transe")
    old = {key: value for key, value in system.settings.items() if key not in ("loss", "n3")}
    System.objects.update(settings=old)
    assert create_systems(town, ["transe"], {"loss": "cross-entropy", "n3": "0"}) == [system]
    with pytest.raises(SystemError_, match="was trained with other settings"):
        create_systems(town, ["transe"], {"loss": "bce"})


@pytest.mark.django_db(transaction=True)
def test_the_best_seed_is_chosen_where_a_worker_died_before_it(town: Graph):
    first, second = make_system(town, "transe"), make_system(town, "transe", seed=1)
    System.objects.update(best_of_seeds=True, validation_mrr=0.1)
    System.objects.filter(pk=second.pk).update(validation_mrr=0.2, settings=first.settings)
    train(second)
    assert list(System.objects.filter(archived=True)) == [first]


def test_best_of_one_seed_is_refused(town: Graph):
    with pytest.raises(SystemError_) as caught:
        create_systems(town, ["transe"], QUICK, best=True)
    assert str(caught.value) == "The best of one seed is that one: give 2 or more seeds to choose from."


def test_only_trained_systems_are_got_and_in_the_order_asked_for(town: Graph):
    with pytest.raises(SystemError_) as caught:
        get_systems(town, None)
    assert str(caught.value) == "Graph town has no trained system; run train_systems town first."
    one, other = make_system(town, "transe"), make_system(town, "distmult")
    make_system(town, "complex", trained=False)
    System.objects.filter(pk=make_system(town, "rescal").pk).update(archived=True)
    assert get_systems(town, None) == [one, other]
    assert get_systems(town, ["distmult", "transe", "distmult"]) == [other, one]
    with pytest.raises(SystemError_) as caught:
        get_systems(town, ["transe", "complex", "rotate"])
    assert str(caught.value) == "Graph town has no trained system complex, rotate. Trained: transe, distmult, rescal."


def train(system: System) -> Job:
    job = make_job(PoolingJob.TRAIN, system=system)
    assert execute(job.pk, "w") is True
    job.refresh_from_db()
    system.refresh_from_db()
    return job


@pytest.mark.django_db(transaction=True)
def test_training_fills_the_row_and_the_checkpoint_is_the_one_it_names(town: Graph):
    (system,) = create_systems(town, ["distmult"], QUICK, device="cpu")
    job = train(system)
    assert (job.state, job.error) == ("done", "")
    assert (system.state, system.epochs_done, system.device) == (SystemState.TRAINED, 2, "cpu")
    assert [row["epoch"] for row in system.history] == [1, 2]
    assert system.validation_mrr == max(row["validation_mrr"] for row in system.history)
    assert system.sha256 == sha256_of(artifact_path(system.artifact) / "best.pt")
    assert (job.done, job.total, job.percent) == (200, 200, 100)
    assert (system.note, system.peak_bytes is not None and system.peak_bytes > 50e6) == ("", True)


@pytest.mark.django_db(transaction=True)
def test_a_trained_system_is_left_as_it_is(town: Graph):
    system = make_system(town, "transe")
    before = system.sha256
    assert train(system).log.endswith("transe is trained already\n")
    assert system.sha256 == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seen_by", ["the loop", "a report"])
def test_cancelled_training_is_cancelled_whoever_sees_it_first(town: Graph, monkeypatch, seen_by):
    (system,) = create_systems(town, ["distmult"], {"embedding_dim": "4", "epochs": "50"}, device="cpu")
    report = Progress.report

    def stop_after_an_epoch(self: Progress, stage: str, done: int, *args: object, **kwargs: object) -> None:
        if seen_by == "the loop":
            report(self, stage, done, *args, **kwargs)
        if done >= 100:
            self.stop()
        if seen_by == "a report":
            self.check()

    monkeypatch.setattr(Progress, "report", stop_after_an_epoch)
    job = train(system)
    assert (job.state, job.error, system.state) == ("cancelled", "", SystemState.CANCELLED)
    assert system.epochs_done in (0, 1)
    assert (artifact_path(system.artifact) / "checkpoint.pt").exists()


@pytest.mark.django_db(transaction=True)
def test_training_goes_on_from_the_checkpoint_with_the_same_result(town: Graph, monkeypatch):
    whole, halves = create_systems(town, ["distmult"], {**QUICK, "epochs": "4"}, seeds=2, device="cpu")
    System.objects.filter(pk=halves.pk).update(seed=whole.seed)
    halves.refresh_from_db()
    train(whole)
    with monkeypatch.context() as patch:
        report = Progress.report

        def stop(self: Progress, stage: str, done: int, *args: object, **kwargs: object) -> None:
            report(self, stage, done, *args, **kwargs)
            if done >= 200:
                self.stop()

        patch.setattr(Progress, "report", stop)
        train(halves)
    assert halves.epochs_done == 2
    train(halves)
    assert [row["epoch"] for row in halves.history] == [1, 2, 3, 4]
    losses = [[row["loss"] for row in system.history] for system in (whole, halves)]
    assert losses[0] == losses[1]
    assert halves.validation_mrr == whole.validation_mrr


@pytest.mark.django_db(transaction=True)
def test_failed_training_fails_the_system_and_says_why(town: Graph):
    overrides = {**QUICK, "learning_rate": "10", "epochs": "300", "scale": "1000"}
    (system,) = create_systems(town, ["rescal"], overrides, device="cpu")
    artifact_path("systems").write_text("a file where the folder should be")
    job = train(system)
    assert (job.state, system.state) == ("failed", SystemState.FAILED)
    assert job.error.startswith("The checkpoint of rescal could not be written: ")


@pytest.mark.django_db(transaction=True)
def test_best_of_two_seeds_stays_once_both_are_trained(town: Graph):
    systems = create_systems(town, ["distmult"], QUICK, seeds=2, device="cpu", best=True)
    train(systems[0])
    assert [s.archived for s in System.objects.order_by("id")] == [False, False]
    job = train(systems[1])
    best = max(System.objects.all(), key=lambda s: (s.validation_mrr, -s.seed))
    assert {s.name: s.archived for s in System.objects.all()} == {s.name: s != best for s in systems}
    assert job.log.endswith(f"{best.name} is the best of its seeds; the others are archived\n")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kept", [0, 1])
def test_a_diverged_training_keeps_its_best_epoch_or_fails(town: Graph, monkeypatch, kept: int):
    import torch

    from pooling.learning import loop

    (system,) = create_systems(town, ["distmult"], QUICK, device="cpu")
    epoch = loop._Run.train_epoch

    def diverge(self, number: int) -> float:
        return self.finite(torch.tensor(float("nan")), number) if number > kept else epoch(self, number)

    monkeypatch.setattr(loop._Run, "train_epoch", diverge)
    job = train(system)
    said = "the loss of DistMult is not finite in epoch"
    if kept:
        assert (job.state, system.state, system.epochs_done, system.best_epoch) == ("done", "trained", 1, 1)
        assert system.note == f"stopped: {said} 2; the weights of epoch 1 are kept. Lower the learning_rate."
        assert system.sha256 == sha256_of(artifact_path(system.artifact) / "best.pt")
    else:
        assert (job.state, system.state, system.sha256) == ("failed", "failed", "")
        assert job.error == f"Training stopped: {said} 1; nothing is kept. Lower the learning_rate."


@pytest.mark.django_db(transaction=True)
def test_what_does_not_fit_into_memory_is_refused_with_the_figures(town: Graph, monkeypatch):
    from pooling.scoring import free_memory

    (system,) = create_systems(town, ["distmult"], QUICK, device="cpu")
    monkeypatch.setattr(free_memory, "free_bytes", lambda device: 5_000)
    job = train(system)
    assert (job.state, system.state, system.epochs_done) == ("failed", "failed", 0)
    assert job.error == (
        "DistMult with embedding_dim 4 on 27 entities needs about 0 MB, 0 MB are free: lower embedding_dim or "
        "batch_size."
    )
    monkeypatch.undo()
    assert "it needs about 0 MB of memory\n" in train(system).log
