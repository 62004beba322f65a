"""RNNLogic: it learns, its scores are those of plain loops, an interrupted training ends as a whole one."""

import numpy as np
import pytest
import torch

from pooling.learning.loop import Training, TrainingCancelled
from pooling.rules.kernels import mining, stage_progress
from pooling.rules.kernels.rnnlogic import Predictor, VectorPredictor, load_rnnlogic, train_rnnlogic
from pooling.rules.kernels.rule_table import read_rules
from pooling.rules.kernels.signed_graph import reverse
from pooling.scoring.checkpoints import LATEST, read_checkpoint, write_checkpoint
from pooling.scoring.ranking import rank_of_triples
from pooling.systems import resolve_settings
from tests.pooling.rules.kernels import oracle
from tests.pooling.rules.kernels.test_training import ENTITIES, RELATIONS, cycle

OVERRIDES = {"generator_dim": 8, "hidden_dim": 8, "proposals": 10, "max_rules": 12, "validation_sample": 0}
KINDS = ("rnnlogic", "rnnlogic-plus")


def settings_of(kind):
    more = {"rule_dim": 16, "vector_epochs": 80} if kind == "rnnlogic-plus" else {}
    return resolve_settings(kind, ENTITIES, 54, {**OVERRIDES, **more})


def train(kind, directory, triples=None, valid=None, settings=None, **given):
    known, held_out = cycle()
    known = known if triples is None else triples
    valid = held_out if valid is None else valid
    settings = settings or settings_of(kind)
    return train_rnnlogic(
        Training(kind, known, valid, ENTITIES, RELATIONS, settings, seed=1, directory=directory, **given)
    )


def load(kind, directory):
    return load_rnnlogic(kind, directory, ENTITIES, RELATIONS, settings_of(kind), "cpu", cycle()[0])


@pytest.fixture(scope="module", params=KINDS)
def whole(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp(request.param)
    return request.param, directory, train(request.param, directory)


def test_it_learns_and_what_is_loaded_ranks_as_validation_did(whole):
    kind, directory, result = whole
    known, held_out = cycle()
    scorer = load(kind, directory)
    assert isinstance(scorer, VectorPredictor) == (kind == "rnnlogic-plus")
    assert rank_of_triples(scorer, held_out, known, num_relations=RELATIONS).mrr == result.validation_mrr > 0.8
    assert (result.epochs_done, result.device) == (2 + (kind == "rnnlogic-plus"), "cpu")
    best = result.history[result.best_epoch - 1]
    assert (best["epoch"], best["validation_mrr"]) == (result.best_epoch, result.validation_mrr)


def test_scores_are_those_of_plain_loops_whatever_is_asked_with_them(whole, monkeypatch):
    kind, directory, _ = whole
    monkeypatch.setattr(oracle, "ENTITIES", ENTITIES)
    facts = {tuple(fact) for fact in cycle()[0].tolist()}
    scorer = load(kind, directory)
    asked = np.array([(s, e, r) for s in (0, 1) for e in (0, 7) for r in range(RELATIONS)]).T
    scores = scorer.in_order(np.arange(ENTITIES))(*asked)
    for question, row in zip(asked.T.tolist(), scores.tolist(), strict=True):
        side, e, r = question
        bodies = scorer.rules.bodies(r)
        weights = scorer.rules.weight[scorer.rules.relation == r, side]
        counts = np.zeros((ENTITIES, len(bodies)))
        for i, body in enumerate(bodies):
            for y in oracle.paths(facts, body if side == 0 else reverse(body), e):
                counts[y, i] += 1
        expected = counts @ weights
        if kind == "rnnlogic-plus":
            turned = [body if side == 0 else reverse(body) for body in bodies]
            total = torch.from_numpy(counts).float() @ scorer.model.vectors(2 * r + side, turned)
            of_rules = scorer.model.score(torch.relu(scorer.model.norm(scorer.model.mixed(total))))[:, 0]
            expected = np.where(counts.sum(1) > 0, of_rules.detach().numpy(), 0)
        seen = [sum(fact[1] == r and fact[2 if side == 0 else 0] == y for fact in facts) for y in range(ENTITIES)]
        assert row == pytest.approx(expected + scorer.rates[2 * r + side] * np.log1p(seen), abs=1e-4)
    some = np.array([4, 1, 2])
    assert torch.equal(scorer.in_order(some)(*asked[:, [5, 2]]), scores[[5, 2]][:, some])


def test_rules_are_kept_with_their_evidence_and_a_weight_for_each_side(whole, monkeypatch):
    monkeypatch.setattr(oracle, "ENTITIES", ENTITIES)
    facts = {tuple(fact) for fact in cycle()[0].tolist()}
    rules = read_rules(whole[1] / "rules.npz")
    assert rules.weight.shape == (len(rules), 2)
    assert np.bincount(rules.relation).max() <= 12
    for i in range(0, len(rules), 3):
        pairs = oracle.pairs(facts, rules.body_of(i))
        held = sum((x, rules.relation[i], y) in facts for x, y in pairs)
        assert (rules.support[i], rules.covered[i], rules.share[i]) == (held, len(pairs), 1.0)


@pytest.mark.parametrize("calls", [2, 14, 22])
def test_an_interrupted_training_ends_as_a_whole_one(whole, tmp_path, calls):
    kind, directory, result = whole
    asked = []

    def should_stop():
        asked.append(1)
        return len(asked) == calls

    with pytest.raises(TrainingCancelled):
        train(kind, tmp_path, should_stop=should_stop)
    assert train(kind, tmp_path).validation_mrr == result.validation_mrr
    np.testing.assert_equal(vars(read_rules(tmp_path / "rules.npz")), vars(read_rules(directory / "rules.npz")))
    with pytest.raises(ValueError, match="belongs to another training"):
        train(kind, tmp_path, triples=cycle()[0][:50])


def test_a_checkpoint_has_its_settings_in_one_order_and_goes_on_from_any_other(tmp_path):
    settings = settings_of("rnnlogic")
    other = dict(reversed(settings.items()))
    result = train("rnnlogic", tmp_path, settings=other)
    state = read_checkpoint(tmp_path / LATEST)
    assert list(state["identity"]["settings"]) == sorted(settings)
    state["identity"]["settings"] = other  # as it was written before
    write_checkpoint(tmp_path / LATEST, state)
    again = train("rnnlogic", tmp_path, settings=settings)
    assert again.history == result.history  # with the same seconds: no round was done again


def test_progress_goes_forward_over_all_rounds(tmp_path, monkeypatch):
    monkeypatch.setattr(stage_progress, "REPORT_SECONDS", -1)
    reports = []
    train("rnnlogic-plus", tmp_path, on_progress=reports.append)
    said = " ".join(report.words for report in reports)
    for words in ("looking for paths, ", "teaching the generator, ", "weighing rules, ", "learning vectors of rules, "):
        assert words in said
    ends = [(report.epoch, report.validation_mrr) for report in reports if report.fraction == 1]
    assert [epoch for epoch, _ in ends] == [1, 2, 3] and all(mrr is not None for _, mrr in ends)


def test_a_graph_without_rules_is_refused_with_advice(tmp_path):
    lone = np.array([[0, 0, 1], [2, 1, 3]], np.int32)
    with pytest.raises(ValueError, match="no rule was found in the training triples: lower min_support"):
        train("rnnlogic", tmp_path, triples=lone)


def test_too_many_rules_are_refused_with_advice(tmp_path, monkeypatch):
    monkeypatch.setattr(mining, "MOST_RULES", 3)
    with pytest.raises(ValueError, match="rules were found, at most 3 can be kept: lower max_rules"):
        train("rnnlogic", tmp_path)


def test_loading_needs_the_training_triples(whole):
    kind, directory, _ = whole
    with pytest.raises(ValueError, match=f"{kind} reads the training triples"):
        load_rnnlogic(kind, directory, ENTITIES, RELATIONS, settings_of(kind))
    assert isinstance(load(kind, directory), Predictor)
