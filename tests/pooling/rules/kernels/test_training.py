"""Mining as a job runs it: a file of rules, a figure, progress, and a way to stop."""

import numpy as np
import pytest

from pooling.learning.loop import Training, TrainingCancelled, train_system
from pooling.rules.kernels import stage_progress
from pooling.rules.kernels import training as rule_training
from pooling.rules.kernels.rule_table import read_rules
from pooling.rules.kernels.training import load_rules, mine_system
from pooling.scoring import free_memory
from pooling.scoring.ranking import rank_of_triples
from pooling.scoring.scorer import load_scorer
from pooling.systems import SYSTEMS, resolve_settings
from pooling.systems.rules import RuleSpec
from pooling.training.trainers import loader_of, trainer_of

ENTITIES, RELATIONS = 30, 2
SETTINGS = resolve_settings("rules", ENTITIES, 54)


def cycle():
    """Entities in a circle: relation 0 is one step, relation 1 two steps; a tenth is held out."""
    i = np.arange(ENTITIES)
    steps = [np.stack([i, np.full_like(i, r), (i + r + 1) % ENTITIES], 1) for r in (0, 1)]
    triples = np.random.default_rng(0).permutation(np.concatenate(steps)).astype(np.int32)
    return triples[:54], triples[54:]


def mine(directory, valid=None, seed=1, **given):
    train, held_out = cycle()
    valid = held_out if valid is None else valid
    return mine_system(
        Training("rules", train, valid, ENTITIES, RELATIONS, SETTINGS, seed=seed, directory=directory, **given)
    )


def test_mining_learns_and_leaves_rules_that_rank_as_validation_did(tmp_path):
    train, held_out = cycle()
    result = mine(tmp_path, device="cuda", threads=1)
    assert (result.epochs_done, result.best_epoch, result.device, result.stopped_early) == (1, 1, "cpu", False)
    assert result.history == [
        {"epoch": 1, "loss": None, "validation_mrr": result.validation_mrr, "seconds": result.seconds}
    ]
    assert result.validation_mrr > 0.9  # measured 1.0: two steps are a step and a step
    assert [path.name for path in tmp_path.iterdir()] == ["rules.npz"]
    scorer = load_rules("rules", tmp_path, ENTITIES, RELATIONS, SETTINGS, "cpu", train)
    assert rank_of_triples(scorer, held_out, train, num_relations=RELATIONS).mrr == result.validation_mrr


def test_mining_without_validation_triples_has_no_figure(tmp_path):
    assert mine(tmp_path, valid=np.zeros((0, 3), np.int32)).validation_mrr is None


def test_validation_sample_is_the_one_that_other_systems_draw(tmp_path):
    train, held_out = cycle()
    train = train[:40]  # so that not every answer is found
    chosen = {**SETTINGS, "validation_sample": 2}
    result = mine_system(Training("rules", train, held_out, ENTITIES, RELATIONS, chosen, seed=3, directory=tmp_path))
    sample = held_out[np.random.default_rng(3).choice(len(held_out), 2, replace=False)]
    scorer = load_rules("rules", tmp_path, ENTITIES, RELATIONS, chosen, "cpu", train)
    some, every = (rank_of_triples(scorer, x, train, held_out, num_relations=RELATIONS).mrr for x in (sample, held_out))
    assert result.validation_mrr == some != every


def test_progress_goes_forward_and_says_what_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr(stage_progress, "REPORT_SECONDS", -1)
    reports = []
    result = mine(tmp_path, on_progress=reports.append)
    done = [report.fraction for report in reports]
    assert done == sorted(done) and done[-1] == 1
    assert {(report.epoch, report.epochs, report.loss) for report in reports} == {(1, 1, None)}
    assert [report.words for report in reports[:2]] == ["looking for paths, 0 of 2", "looking for paths, 1 of 2"]
    assert reports[-2].words.startswith("validating, ")
    assert (reports[-1].validation_mrr, reports[-1].seconds_left) == (result.validation_mrr, 0)


@pytest.mark.parametrize(("calls", "stage"), [(1, "looking for paths"), (3, "counting rules"), (4, "validating")])
def test_mining_stops_where_it_is_asked_to(tmp_path, calls, stage):
    asked = []

    def should_stop():
        asked.append(1)
        return len(asked) == calls

    with pytest.raises(TrainingCancelled, match=f"training of rules was stopped while {stage}"):
        mine(tmp_path, should_stop=should_stop)
    mine(tmp_path)
    again = read_rules(tmp_path / "rules.npz")
    mine(tmp_path / "whole")
    np.testing.assert_equal(vars(again), vars(read_rules(tmp_path / "whole" / "rules.npz")))


def test_too_little_memory_is_said_before_anything_is_built(tmp_path, monkeypatch):
    monkeypatch.setattr(free_memory, "free_bytes", lambda device: 20 * 10**9)
    monkeypatch.setattr(rule_training, "SignedGraph", None)
    with pytest.raises(ValueError) as caught:
        mine_system(
            Training(
                "rules", np.zeros((10**6, 3)), np.zeros((0, 3)), 5_000_000, 800, SETTINGS, seed=0, directory=tmp_path
            )
        )
    assert str(caught.value) == (
        "Rules on 5,000,000 entities and 800 relations need about 33 GB, 20 GB are free: mine on a machine with more "
        "memory, or a graph with fewer relations"
    )


def test_rules_without_training_triples_are_refused(tmp_path):
    mine(tmp_path)
    with pytest.raises(ValueError, match="rules reads the training triples"):
        load_rules("rules", tmp_path, ENTITIES, RELATIONS, SETTINGS)


def test_kinds_are_trained_and_loaded_by_what_they_are():
    assert (trainer_of("rules"), trainer_of("transe")) == (mine_system, train_system)
    assert loader_of("rules") is load_rules
    of_rules = {name for name, entry in SYSTEMS.items() if isinstance(entry, RuleSpec)}
    assert {name for name in SYSTEMS if trainer_of(name) is not train_system} == of_rules
    assert {name for name in SYSTEMS if loader_of(name) is not load_scorer} == of_rules
    with pytest.raises(ValueError, match="unknown system 'rule'"):
        loader_of("rule")
