"""Scores by rules are those of plain loops, on both sides and for both aggregations, whatever is asked with them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from pooling.questions.kernel import HEAD, TAIL, Csr, Questions
from pooling.rules.kernels import scorer as rule_scorer
from pooling.rules.kernels.mining import mine_rules
from pooling.rules.kernels.scorer import RuleScorer
from pooling.rules.kernels.signed_graph import SignedGraph
from pooling.scoring.ranking import score_questions
from tests.pooling.rules.kernels import oracle
from tests.pooling.rules.kernels.oracle import ALL, ENTITIES, RELATIONS

EVERY = np.array([(s, e, r) for s in (TAIL, HEAD) for e in range(ENTITIES) for r in range(RELATIONS)]).T


def scorer_of(triples, aggregation):
    graph = SignedGraph(np.array(triples), ENTITIES, RELATIONS)
    return RuleScorer(mine_rules(graph, ALL, 0, lambda stage, done, total: None), graph, aggregation)


def proposing(facts, rules, side, entity, relation, candidate):
    """Confidences of the rules that propose the candidate, falling, and its share of the relation's facts."""
    x, y = (entity, candidate) if side == TAIL else (candidate, entity)
    found = [row[2] for (r, body), row in rules.items() if r == relation and y in oracle.paths(facts, body, x)]
    of_relation = [fact for fact in facts if fact[1] == relation]
    slot = sum(fact[2 if side == TAIL else 0] == candidate for fact in of_relation)
    return sorted(found, reverse=True), slot / (len(of_relation) + 1)


@settings(max_examples=8)
@given(oracle.triples)
def test_max_orders_by_best_then_next_then_popularity(triples):
    facts = {fact for fact in triples if fact[0] != fact[2]}
    rules = oracle.all_rules(facts)
    scores = scorer_of(triples, "max").in_order(np.arange(ENTITIES))(*EVERY)
    for row, question in zip(scores, EVERY.T, strict=True):
        keys = []
        for candidate in range(ENTITIES):
            found, share = proposing(facts, rules, *question, candidate)
            keys.append((*[*found, 0, 0][:2], share))
        places = {key: i for i, key in enumerate(sorted(set(keys)))}
        assert torch.unique(row, return_inverse=True)[1].tolist() == [places[key] for key in keys]


@settings(max_examples=8)
@given(oracle.triples)
def test_noisy_or_is_that_no_rule_is_right(triples):
    facts = {fact for fact in triples if fact[0] != fact[2]}
    rules = oracle.all_rules(facts)
    scores = scorer_of(triples, "noisy-or").in_order(np.arange(ENTITIES))(*EVERY)
    for row, question in zip(scores, EVERY.T, strict=True):
        least = min([c for (r, _), (_, _, c) in rules.items() if r == question[2]], default=0.5)
        for candidate, score in enumerate(row.tolist()):
            found, share = proposing(facts, rules, *question, candidate)
            wrong = np.prod([1 - c for c in found])  # 1 - noisy-or
            assert score == pytest.approx(-np.log(wrong) - np.log(1 - least) / 2 * share, rel=1e-5, abs=1e-7)


FACTS = [(0, 0, 1), (1, 0, 2), (0, 1, 2), (2, 0, 3), (1, 1, 3), (3, 0, 4), (2, 1, 4), (4, 1, 0), (1, 0, 0)]


@pytest.mark.parametrize("aggregation", ["max", "noisy-or"])
def test_scores_do_not_depend_on_what_is_asked_with_them(aggregation, monkeypatch):
    whole = scorer_of(FACTS, aggregation).in_order(np.arange(ENTITIES))(*EVERY)
    assert torch.isfinite(whole).all()
    shuffled = np.random.default_rng(0).permutation(EVERY.shape[1])
    monkeypatch.setattr(rule_scorer, "BLOCK", ENTITIES)  # one question at a time
    parts = scorer_of(FACTS, aggregation)
    alone = torch.cat([parts.in_order(np.arange(ENTITIES))(*EVERY[:, [i]]) for i in shuffled])
    assert torch.equal(alone, whole[shuffled])
    some = np.array([4, 1, 2])
    out = torch.full((len(shuffled), 3), torch.nan)
    assert parts.in_order(some)(*EVERY[:, shuffled], out=out) is out
    assert torch.equal(out, whole[shuffled][:, some])


@pytest.mark.parametrize("aggregation", ["max", "noisy-or"])
def test_answers_are_kept_as_far_as_there_is_room(aggregation, monkeypatch):
    whole = scorer_of(FACTS, aggregation).in_order(np.arange(ENTITIES))(*EVERY)
    found, of_relation = [], RuleScorer.of_relation

    def counted(scorer, signed, entity):
        found.append(signed)
        return of_relation(scorer, signed, entity)

    monkeypatch.setattr(RuleScorer, "of_relation", counted)
    parts = 2 * RELATIONS
    one = next(iter(scorer_of(FACTS, aggregation)._answers(EVERY))).nbytes
    for room, anew in ((1 << 20, 0), (one, parts - 1), (0, parts)):
        monkeypatch.setattr(rule_scorer, "KEPT", room)
        scorer = scorer_of(FACTS, aggregation)
        found.clear()
        first = scorer.in_order(np.arange(3))(*EVERY)
        assert len(found) == parts
        second = scorer.in_order(np.arange(3, ENTITIES))(*EVERY)
        assert len(found) == parts + anew
        assert sum(answers.nbytes for answers in scorer._kept.values()) <= room
        assert torch.equal(torch.cat([first, second], 1), whole)


@pytest.mark.parametrize("aggregation", ["max", "noisy-or"])
def test_the_least_rule_comes_before_the_most_popular_entity(aggregation):
    scorer = scorer_of([(0, 1, 1), (0, 0, 1), (2, 0, 4), (3, 0, 4)], aggregation)
    assert scorer.rules.of_question(0) == [((2,), 1 / 6)]
    scores = scorer.in_order(np.arange(ENTITIES))(np.array([TAIL]), np.array([0]), np.array([0]))[0]
    assert torch.argsort(scores, descending=True, stable=True).tolist() == [1, 4, 0, 2, 3]
    assert scores[4] > scores[0] == scores[2] == scores[3] == 0


def test_max_is_exact_with_as_many_confidences_as_are_allowed():
    """4,000 levels twice still are whole numbers of a float32."""
    confidences = [i / 5000 for i in range(1, 4001)]
    hits = [(np.array([0, 1]), confidences[-1]), (np.array([0]), confidences[-2]), (np.array([1]), confidences[-3])]
    places, scores, _ = rule_scorer._best_two(hits, confidences, np.array([0.0, 0.9]), (1, 2))
    assert (places.tolist(), scores.tolist()) == ([0, 1], [4000 * 4001 + 3999, 4000 * 4001 + 3998])
    assert scores.astype(np.float32).astype(np.float64).tolist() == scores.tolist()


def test_score_questions_takes_rules():
    scorer = scorer_of(FACTS, "max")
    questions = Questions(np.array([0, 1], np.int8), np.array([0, 4], np.int32), np.array([1, 0], np.int32))
    none = Csr(np.zeros(3, np.int64), np.zeros(0, np.int32))
    scored = score_questions(
        scorer,
        questions,
        masked=none,
        top_masked=none,
        wanted=Csr(np.array([0, 1, 2]), np.array([2, 3])),
        top_k=2,
        seed=0,
    )
    scores = scorer.in_order(np.arange(ENTITIES))(*questions)
    assert scored.top_score[:, 0].tolist() == scores.max(1).values.tolist()
    assert scored.optimistic.tolist() == [1 + int((row > row[e]).sum()) for row, e in zip(scores, (2, 3), strict=True)]
