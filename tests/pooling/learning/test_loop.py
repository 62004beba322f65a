"""Training learns, repeats itself, survives interruptions and full disks."""

import dataclasses
import resource

import numpy as np
import pytest
import torch

from pooling.learning import batches as batching
from pooling.learning import loop
from pooling.learning.batches import Batches
from pooling.learning.loop import Diverged, Training, TrainingCancelled, train_system
from pooling.scoring import checkpoints, free_memory
from pooling.scoring.ranking import rank_of_triples
from pooling.scoring.ranks import NotFinite
from pooling.scoring.scorer import load_scorer
from pooling.systems import USUAL, resolve_settings
from pooling.systems.spec import NEUTRAL

ENTITIES, RELATIONS = 30, 2


def cycle():
    """Entities in a circle: relation 0 is one step, relation 1 two steps; a tenth is held out."""
    i = np.arange(ENTITIES)
    steps = [np.stack([i, np.full_like(i, r), (i + r + 1) % ENTITIES], 1) for r in (0, 1)]
    triples = np.random.default_rng(0).permutation(np.concatenate(steps)).astype(np.int32)
    return triples[:54], triples[54:]


def train_on_cycle(directory, name="distmult", *, seed=1, valid=None, on_progress=None, should_stop=None, **overrides):
    train, held_out = cycle()
    calls = {"on_progress": on_progress, "should_stop": should_stop}
    settings = {"embedding_dim": 8, "epochs": 6, "batch_size": 16, **overrides}
    return train_system(
        Training(
            name,
            train,
            held_out if valid is None else valid,
            ENTITIES,
            RELATIONS,
            resolve_settings(name, ENTITIES, len(train), settings),
            seed=seed,
            device="cpu",
            directory=directory,
            threads=1,
            **{key: call for key, call in calls.items() if call},
        )
    )


def weights(directory, file=checkpoints.LATEST):
    return checkpoints.read_checkpoint(directory / file)["model"]


def same_weights(a, b):
    return all(torch.equal(a[key], b[key]) for key in a)


def without_times(result):
    rows = [{**row, "seconds": 0} for row in result.history]
    return dataclasses.replace(result, seconds=0, history=rows)


@pytest.mark.parametrize("name", USUAL)
@pytest.mark.parametrize("shared", [{}, {"num_negatives": 10}, {"objective": "questions", "num_negatives": 10}])
def test_train_system_learns(tmp_path, name, shared):
    rate = {"learning_rate": 0.02} if name == "conve" else {}  # its batch normalisation copes
    result = train_on_cycle(tmp_path, name, epochs=15, **shared, **rate)
    losses = [row["loss"] for row in result.history]
    assert losses[-1] < 0.85 * losses[0]
    assert (result.epochs_done, result.device, result.stopped_early) == (15, "cpu", False)


ADVERSARIAL = {"loss": "self-adversarial", "num_negatives": 5, "margin": 2}


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("rotate", {"loss": "bce", "smoothing": 0.1}),
        ("complex", {"loss": "bce", "objective": "questions", "num_negatives": 10}),
        ("rotate", ADVERSARIAL),
        ("complex", {**ADVERSARIAL, "objective": "questions"}),
        ("rotate", {"smoothing": 0.1, "optimizer": "adamax"}),
        ("complex", {"n3": 1e-3, "l2": 1e-3}),
    ],
)
def test_train_system_learns_by_every_loss(tmp_path, name, overrides):
    """It knows what it was trained on; an MRR of .13 says nothing."""
    known = cycle()[0][:20]
    result = train_on_cycle(tmp_path, name, valid=known, embedding_dim=32, epochs=20, validate_every=20, **overrides)
    assert result.validation_mrr > 0.9


@pytest.mark.parametrize(
    "overrides",
    [
        {},
        {"num_negatives": 5},
        {"objective": "questions"},
        {"optimizer": "adagrad"},
        {"optimizer": "adamax", "loss": "bce", "n3": 0.01},
        {**ADVERSARIAL, "l2": 0.01},
    ],
)
@pytest.mark.parametrize("name", ["rotate", "conve"])
def test_train_system_resumed_equals_uninterrupted(tmp_path, name, overrides):
    expected = train_on_cycle(tmp_path / "whole", name, **overrides)
    seen = []

    def stop_within_fourth_epoch():
        return len(seen) == 3

    with pytest.raises(TrainingCancelled, match="epoch 4"):
        train_on_cycle(
            tmp_path / "parts",
            name,
            on_progress=lambda r: r.fraction == 1 and seen.append(r.epoch),
            should_stop=stop_within_fourth_epoch,
            **overrides,
        )
    torch.rand(7)  # the global generator has moved on
    result = train_on_cycle(tmp_path / "parts", name, **overrides)
    assert without_times(result) == without_times(expected)
    for file in (checkpoints.LATEST, checkpoints.BEST):
        assert same_weights(weights(tmp_path / "parts", file), weights(tmp_path / "whole", file))


@pytest.mark.parametrize("overrides", [{}, {"num_negatives": 5, "dropout": 0.3}, {"objective": "questions"}])
@pytest.mark.parametrize("name", ["rotate", "conve"])
def test_train_system_stopped_within_an_epoch_repeats_no_batch(tmp_path, monkeypatch, name, overrides):
    """The whole has as many batches as its parts, and the same result, with negatives and dropout drawn at random."""
    trained, loss = [], Batches.loss

    def counted(batches, spec, model, rows):
        trained.append(rows.tolist())
        return loss(batches, spec, model, rows)

    monkeypatch.setattr(Batches, "loss", counted)
    expected = train_on_cycle(tmp_path / "whole", name, **overrides)
    whole = trained.copy()
    for stop in (1, len(whole) // 6 + 2, len(whole) - 1):  # within the first, second and last epoch
        trained.clear()
        folder = tmp_path / str(stop)
        with pytest.raises(TrainingCancelled):
            train_on_cycle(folder, name, should_stop=lambda stop=stop: len(trained) == stop, **overrides)
        torch.rand(7)
        result = train_on_cycle(folder, name, **overrides)
        assert trained == whole
        assert without_times(result) == without_times(expected)
        for file in (checkpoints.LATEST, checkpoints.BEST):
            assert same_weights(weights(folder, file), weights(tmp_path / "whole", file))
        assert not (folder / checkpoints.WITHIN).exists()


def test_train_system_writes_a_checkpoint_within_a_long_epoch(tmp_path, monkeypatch):
    """A worker that is killed loses what it did since, and no more."""
    done = []

    def save(run, devices):
        done.append((run.epoch, run.batch))
        return save_within(run, devices)

    save_within = loop._Run.save_within
    monkeypatch.setattr(loop._Run, "save_within", save)
    train_on_cycle(tmp_path / "short", epochs=2)
    assert done == [] and loop.WITHIN_SECONDS < 300
    monkeypatch.setattr(loop, "WITHIN_SECONDS", -1.0)
    train_on_cycle(tmp_path / "long", epochs=2)
    assert done == [(epoch, batch) for epoch in (0, 1) for batch in range(7)]


def test_train_system_stopped_where_nothing_can_be_written_keeps_what_there_was(tmp_path, monkeypatch):
    """Its folder went to another attempt, or the disk is full."""

    def refuse(path, state):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(loop, "write_checkpoint", refuse)
    with pytest.raises(TrainingCancelled, match="epoch 1"):
        train_on_cycle(tmp_path, should_stop=lambda: True)


def test_train_system_seeds(tmp_path):
    for directory, seed in (("a", 1), ("b", 1), ("c", 2)):
        train_on_cycle(tmp_path / directory, seed=seed, num_negatives=5)
    assert same_weights(weights(tmp_path / "a"), weights(tmp_path / "b"))
    assert not same_weights(weights(tmp_path / "a"), weights(tmp_path / "c"))


def test_train_system_writes_the_same_bytes_whatever_the_order_of_the_settings(tmp_path):
    train, valid = cycle()
    settings = resolve_settings("distmult", ENTITIES, len(train), {"embedding_dim": 8, "epochs": 1})
    for name, given in (("a", settings), ("b", dict(reversed(settings.items())))):
        asked = {"seed": 1, "device": "cpu", "directory": tmp_path / name}
        train_system(Training("distmult", train, valid, ENTITIES, RELATIONS, given, **asked))
    assert (tmp_path / "a" / checkpoints.BEST).read_bytes() == (tmp_path / "b" / checkpoints.BEST).read_bytes()


def test_train_system_leaves_global_seed_and_threads(tmp_path):
    torch.manual_seed(5)
    expected, threads = torch.rand(1), torch.get_num_threads()
    torch.manual_seed(5)
    train_on_cycle(tmp_path)
    assert torch.equal(torch.rand(1), expected)
    assert torch.get_num_threads() == threads


def test_train_system_finished_is_not_trained_again(tmp_path):
    expected = train_on_cycle(tmp_path)
    assert train_on_cycle(tmp_path, should_stop=lambda: True) == expected


def test_train_system_other_settings_refused(tmp_path):
    train_on_cycle(tmp_path)
    with pytest.raises(ValueError, match=r"belongs to another training"):
        train_on_cycle(tmp_path, epochs=9)


def test_train_system_keeps_best_epoch(tmp_path, monkeypatch):
    figures = iter([0.1, 0.5, 0.3, 0.4, 0.2, 0.1])
    monkeypatch.setattr(loop._Run, "validate", lambda self, epoch: next(figures))
    kept = {}

    def keep(report):  # an epoch is saved before its end is reported
        if report.fraction == 1:
            kept[report.epoch] = weights(tmp_path)

    result = train_on_cycle(tmp_path, on_progress=keep)
    assert (result.best_epoch, result.validation_mrr) == (2, 0.5)
    assert same_weights(weights(tmp_path, checkpoints.BEST), kept[2])
    assert not same_weights(kept[2], kept[6])


def test_train_system_patience(tmp_path, monkeypatch):
    figures = iter([0.5, 0.4, 0.6, 0.6, 0.1, 0.9])
    monkeypatch.setattr(loop._Run, "validate", lambda self, epoch: next(figures))
    result = train_on_cycle(tmp_path, patience=2)
    assert (result.epochs_done, result.best_epoch, result.stopped_early) == (5, 3, True)
    assert train_on_cycle(tmp_path, patience=2) == result  # a redelivered job does not go on


class Clock:
    """A second goes by in each epoch, and none besides."""

    def __init__(self, monkeypatch):
        self.now, train_epoch = 100.0, loop._Run.train_epoch

        def timed(run, epoch):
            self.now += 1
            return train_epoch(run, epoch)

        monkeypatch.setattr(loop._Run, "train_epoch", timed)
        monkeypatch.setattr(loop, "time", self)

    def monotonic(self):
        return self.now


@pytest.mark.parametrize(("limit", "epochs"), [(3.4, 3), (3.6, 4)])
def test_train_system_max_seconds(tmp_path, monkeypatch, limit, epochs):
    """It ends where less than half of another epoch would lie within the limit."""
    Clock(monkeypatch)
    result = train_on_cycle(tmp_path, epochs=10, max_seconds=limit)
    assert (result.stopped_early, result.epochs_done, result.seconds) == (True, epochs, epochs)


def test_train_system_whose_first_epoch_is_longer_than_its_time(tmp_path, monkeypatch):
    """It ends within that epoch, and has weights."""
    clock, step = Clock(monkeypatch), torch.optim.Adagrad.step

    def timed(optimizer, *args, **kwargs):
        clock.now += 10
        return step(optimizer, *args, **kwargs)

    monkeypatch.setattr(torch.optim.Adagrad, "step", timed)
    settings = {"optimizer": "adagrad", "max_seconds": 15}
    result = train_on_cycle(tmp_path, **settings)
    assert (result.epochs_done, result.best_epoch, result.stopped_early, result.seconds) == (1, 1, True, 21)
    assert result.history[0]["loss"] > 0 and result.validation_mrr is not None
    assert train_on_cycle(tmp_path, **settings) == result  # a redelivered job does not go on
    train_on_cycle(tmp_path / "whole", optimizer="adagrad", epochs=1)
    assert not same_weights(weights(tmp_path), weights(tmp_path / "whole"))


def test_train_system_ended_before_its_first_validation(tmp_path):
    reports = []
    settings = {"epochs": 80, "validate_every": 40, "max_seconds": 0.001}
    result = train_on_cycle(tmp_path, on_progress=reports.append, **settings)
    assert (result.epochs_done, result.best_epoch, result.stopped_early) == (1, 1, True)
    best = checkpoints.read_checkpoint(tmp_path / checkpoints.BEST)
    assert best["epoch"] == 1 and same_weights(best["model"], weights(tmp_path))
    train, held_out = cycle()
    chosen = resolve_settings("distmult", ENTITIES, len(train), {"embedding_dim": 8, "batch_size": 16})
    scorer = load_scorer("distmult", tmp_path, ENTITIES, RELATIONS, chosen, "cpu")
    mrr = rank_of_triples(scorer, held_out, train, num_relations=RELATIONS).mrr
    assert (result.validation_mrr, result.history[-1]["validation_mrr"], reports[-1].best_mrr) == (mrr,) * 3
    assert train_on_cycle(tmp_path, **settings) == result  # a redelivered job does not go on


def test_train_system_stopped_within_validation(tmp_path, monkeypatch):
    """The epoch is only validated, whether it was the last one or not."""
    validating, first, validate = [], [], loop._Run.validate

    def watched(run, epoch):
        validating.append(epoch)
        return validate(run, epoch)

    monkeypatch.setattr(loop._Run, "validate", watched)
    with pytest.raises(TrainingCancelled, match="epoch 1"):
        train_on_cycle(tmp_path / "each", should_stop=lambda: bool(validating))
    assert not (tmp_path / "each" / checkpoints.LATEST).exists()
    trained = weights(tmp_path / "each", checkpoints.WITHIN)
    validating.clear()
    train_on_cycle(tmp_path / "each", epochs=6, on_progress=lambda report: first.append(weights(tmp_path / "each")))
    assert same_weights(first[0], trained)
    validating.clear()
    settings = {"epochs": 80, "validate_every": 40, "max_seconds": 0.001}
    with pytest.raises(TrainingCancelled, match="epoch 1"):
        train_on_cycle(tmp_path / "last", should_stop=lambda: len(validating) == 2, **settings)
    assert not (tmp_path / "last" / checkpoints.BEST).exists()
    trained = weights(tmp_path / "last")
    result = train_on_cycle(tmp_path / "last", **settings)
    assert (result.epochs_done, validating) == (1, [1, 1, 1])
    assert same_weights(weights(tmp_path / "last", checkpoints.BEST), trained)


def test_train_system_last_validation_not_finite_keeps_nothing(tmp_path, monkeypatch):
    def overflow(*args, **kwargs):
        raise NotFinite("inf")

    monkeypatch.setattr(loop, "validation_mrr", overflow)
    with pytest.raises(Diverged, match="score of DistMult is not finite in epoch 1; nothing is kept"):
        train_on_cycle(tmp_path, validate_every=4, max_seconds=0.001)


def test_train_system_validates_every_and_last(tmp_path):
    result = train_on_cycle(tmp_path, validate_every=4)
    assert [row["epoch"] for row in result.history if row["validation_mrr"] is not None] == [4, 6]


def test_train_system_no_validation_keeps_last(tmp_path):
    result = train_on_cycle(tmp_path, valid=np.zeros((0, 3), np.int32))
    assert (result.best_epoch, result.validation_mrr) == (6, None)
    assert same_weights(weights(tmp_path, checkpoints.BEST), weights(tmp_path))


def test_load_scorer_ranks_as_validation_did(tmp_path):
    train, held_out = cycle()
    result = train_on_cycle(tmp_path)
    chosen = resolve_settings("distmult", ENTITIES, len(train), {"embedding_dim": 8, "epochs": 6, "batch_size": 16})
    scorer = load_scorer("distmult", tmp_path, ENTITIES, RELATIONS, chosen, "cpu")
    assert rank_of_triples(scorer, held_out, train, num_relations=RELATIONS).mrr == result.validation_mrr


def test_train_system_progress_counts_down(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "REPORT_SECONDS", -1)
    reports = []
    train_on_cycle(tmp_path, on_progress=reports.append)
    assert len(reports) == 6 * 7  # every batch; the last one's when its epoch is validated and saved
    done = [r.epoch - 1 + r.fraction for r in reports]
    assert done == sorted(done) and done[-1] == 6
    assert reports[-1].seconds_left == 0 and all(r.epochs == 6 for r in reports)
    assert reports[-1].best_mrr is not None


def spoil(monkeypatch, epoch):
    """Scores become NaN from this epoch on."""
    scores_of, train_epoch, now = batching.scores_of, loop._Run.train_epoch, [0]

    def watched(run, number):
        now[0] = number
        return train_epoch(run, number)

    monkeypatch.setattr(loop._Run, "train_epoch", watched)

    def spoilt(*model):
        score = scores_of(*model)
        return lambda *asked: score(*asked) * (torch.nan if now[0] >= epoch else 1)

    monkeypatch.setattr(batching, "scores_of", spoilt)


def test_train_system_diverging_at_once_keeps_nothing(tmp_path, monkeypatch):
    spoil(monkeypatch, epoch=1)
    with pytest.raises(Diverged, match=r"not finite in epoch 1; nothing is kept.*learning_rate") as caught:
        train_on_cycle(tmp_path)
    assert caught.value.best_epoch == 0
    assert not list(tmp_path.iterdir())


def test_train_system_diverging_later_keeps_best_epoch(tmp_path, monkeypatch):
    figures = iter([0.1, 0.5, 0.3])
    monkeypatch.setattr(loop._Run, "validate", lambda self, epoch: next(figures))
    train_on_cycle(tmp_path / "whole", epochs=2, decay=1.0)
    figures = iter([0.1, 0.5, 0.3])
    spoil(monkeypatch, epoch=4)
    with pytest.raises(Diverged, match=r"in epoch 4; the weights of epoch 2 are kept") as caught:
        train_on_cycle(tmp_path / "parts")
    result = caught.value.result
    assert (caught.value.best_epoch, result.epochs_done, result.validation_mrr) == (2, 3, 0.5)
    assert [row["epoch"] for row in result.history] == [1, 2, 3]
    best = weights(tmp_path / "parts", checkpoints.BEST)
    assert same_weights(best, weights(tmp_path / "whole", checkpoints.LATEST))


def test_train_system_diverging_before_validation_keeps_last_epoch(tmp_path, monkeypatch):
    spoil(monkeypatch, epoch=4)
    with pytest.raises(Diverged, match=r"the weights of epoch 3 are kept"):
        train_on_cycle(tmp_path, validate_every=5)
    assert same_weights(weights(tmp_path, checkpoints.BEST), weights(tmp_path, checkpoints.LATEST))
    assert checkpoints.read_checkpoint(tmp_path / checkpoints.BEST)["epoch"] == 3


def test_train_system_last_step_spoils_weights(tmp_path, monkeypatch):
    """The losses of an epoch were finite, its weights are not: it is no epoch to keep."""
    train_epoch = loop._Run.train_epoch

    def spoilt(run, epoch):
        original = run.model.post_parameter_update
        if epoch == 2:
            weight = next(run.model.parameters())
            batches, done = len(run.batches), [0]

            def after_last_step():
                done[0] += 1
                original()
                if done[0] == batches:
                    weight.data[0] = torch.nan

            monkeypatch.setattr(run.model, "post_parameter_update", after_last_step)
        return train_epoch(run, epoch)

    monkeypatch.setattr(loop._Run, "train_epoch", spoilt)
    with pytest.raises(Diverged, match=r"in epoch 2; the weights of epoch 1 are kept"):
        train_on_cycle(tmp_path)


def test_train_system_scores_overflow(tmp_path, monkeypatch):
    """Weights are numbers still, their products are not."""
    finite = loop._Run.finite

    def grown(run, figure, epoch):
        if epoch == 3:
            for weights in run.model.parameters():
                weights.data.fill_(1e30)
            return 1.0
        return finite(run, figure, epoch)

    monkeypatch.setattr(loop._Run, "finite", grown)
    with pytest.raises(Diverged, match=r"score of DistMult is not finite in epoch 3; the weights of epoch") as caught:
        train_on_cycle(tmp_path)
    assert (caught.value.result.epochs_done, caught.value.best_epoch in (1, 2)) == (2, True)


def test_train_system_mixed_precision_needs_gpu(tmp_path):
    with pytest.raises(ValueError, match=r"mixed precision needs a GPU: set precision to full"):
        train_on_cycle(tmp_path, precision="mixed")


def test_train_system_too_large_is_refused_before_it_is_built(tmp_path, monkeypatch):
    monkeypatch.setattr(free_memory, "free_bytes", lambda device: 1000)
    monkeypatch.setattr(loop, "build_model", None)
    with pytest.raises(ValueError, match=r"DistMult with embedding_dim 8 on 30 entities needs about"):
        train_on_cycle(tmp_path)


def test_train_system_older_row_is_resumed(tmp_path):
    """Rows and checkpoints from before there was a choice of losses hold no such settings."""
    train, held_out = cycle()
    chosen = resolve_settings("distmult", ENTITIES, len(train), {"embedding_dim": 8, "epochs": 3})
    older = {key: value for key, value in chosen.items() if key not in NEUTRAL}

    def run(folder, settings, should_stop=lambda: False):
        return train_system(
            Training(
                "distmult",
                train,
                held_out,
                ENTITIES,
                RELATIONS,
                settings,
                seed=1,
                device="cpu",
                directory=tmp_path / folder,
                should_stop=should_stop,
                threads=1,
            )
        )

    expected = run("new", chosen)
    assert without_times(run("old", older)) == without_times(expected)
    assert same_weights(weights(tmp_path / "old"), weights(tmp_path / "new"))
    for settings, folder in ((chosen, "old"), (older, "new")):  # a row may be written anew between two sessions
        assert without_times(run(folder, settings, should_stop=lambda: True)) == without_times(expected)
    with pytest.raises(ValueError, match="belongs to another training"):
        run("old", {**chosen, "n3": 0.1})


def test_write_checkpoint_full_disk_leaves_old_one(tmp_path):
    path = tmp_path / "checkpoint.pt"
    checkpoints.write_checkpoint(path, {"epoch": 1, "model": {"w": torch.zeros(3)}})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        for shapes in ([100_000], [400] * 300):  # one tensor that is too large; many, together
            state = {"epoch": 2, "model": {str(i): torch.zeros(n) for i, n in enumerate(shapes)}}
            with pytest.raises(OSError) as error:
                checkpoints.write_checkpoint(path, state)
            assert error.value.strerror == "File too large"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert checkpoints.read_checkpoint(path)["epoch"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint.pt"]


@pytest.mark.slow
def test_umls_figures(tmp_path):
    """Train the six on UMLS: no worse than the reference figures by more than what a seed moves."""
    import pykeen.datasets

    data = pykeen.datasets.UMLS()
    train, valid, test = (f.mapped_triples.numpy() for f in (data.training, data.validation, data.testing))
    figures = {"transe": 0.715, "rotate": 0.849, "complex": 0.887, "distmult": 0.883, "rescal": 0.890, "conve": 0.851}
    for name, figure in figures.items():
        chosen = resolve_settings(name, data.num_entities, len(train))
        args = (data.num_entities, data.num_relations, chosen)
        train_system(Training(name, train, valid, *args, seed=1, device="cpu", directory=tmp_path / name, threads=1))
        ranks = rank_of_triples(load_scorer(name, tmp_path / name, *args, "cpu"), test, train, valid, num_relations=46)
        assert ranks.mrr > figure - 0.025, name
