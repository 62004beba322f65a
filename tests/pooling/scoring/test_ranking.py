"""The one-pass kernel against PyKEEN's evaluator and against a literal oracle with heavy ties."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.callbacks import Watch
from pooling.questions.kernel import HEAD, TAIL, Csr, Questions, answers_csr, entries, questions_of
from pooling.scoring import batches, ranking
from pooling.scoring.ranking import rank_of_triples, score_questions
from pooling.scoring.ranks import NotFinite, tie_order
from pooling.scoring.scorer import Scorer, build_model
from pooling.systems import get_model, resolve_settings


@pytest.fixture(autouse=True, scope="module", params=["torch", "loops"])
def _batch(request):
    """Take in scores by torch and by compiled loops in turn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "LEAST_SCORES", 0 if request.param == "loops" else 1 << 60)
        yield


class FixedScores:
    """Scores from a table [2, R, E, E]: side, relation, given entity, candidate."""

    device = torch.device("cpu")

    def __init__(self, table):
        self.table = torch.as_tensor(table, dtype=torch.float32)
        self.num_entities = self.table.shape[-1]

    def in_order(self, order):
        columns = torch.as_tensor(order)

        def scores(side, entity, relation, out):
            index = (torch.as_tensor(np.asarray(x)).long() for x in (side, relation, entity))
            return out.copy_(self.table[tuple(index)][:, columns])

        return scores


class PykeenScores:
    """PyKEEN's own scores through our kernel."""

    device = torch.device("cpu")

    def __init__(self, model):
        self.model, self.num_entities = model, model.num_entities

    @torch.no_grad()
    def in_order(self, order):
        columns = torch.as_tensor(order)

        def scores(side, entity, relation, out):
            entity, relation = torch.as_tensor(entity).long(), torch.as_tensor(relation).long()
            with torch.no_grad():
                tails = self.model.predict_t(torch.stack([entity, relation], 1))
                heads = self.model.predict_h(torch.stack([relation, entity], 1))
            both = torch.where(torch.as_tensor(side).bool()[:, None], heads, tails)
            return out.copy_(both[:, columns])

        return scores


def csr_of(lists):
    lengths = [len(x) for x in lists]
    flat = [e for x in lists for e in sorted(x)]
    return Csr(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), np.array(flat, np.int32))


def tail_questions(entities):
    n = len(entities)
    return Questions(np.zeros(n, np.int8), np.array(entities, np.int32), np.zeros(n, np.int32))


def oracle(row, masked, top_masked, wanted, k, order):
    """Ranks and top list of one question, from the definitions, with plain Python."""
    place = {entity: i for i, entity in enumerate(order.tolist())}
    candidates = [e for e in range(len(row)) if e not in masked]
    ranked = sorted(candidates, key=lambda e: (-row[e], place[e]))
    ranks = [
        (1 + ranked.index(e), 1 + sum(row[c] > row[e] for c in candidates), sum(row[c] >= row[e] for c in candidates))
        for e in sorted(wanted)
    ]
    top = [e for e in ranked if e not in top_masked][:k]
    full = sorted(range(len(row)), key=lambda e: (-row[e], place[e]))
    return ranks, top, [1 + full.index(e) for e in top]


@st.composite
def problems(draw):
    entities = draw(st.integers(2, 12))
    n = draw(st.integers(1, 6))
    rows = draw(st.lists(st.lists(st.integers(-2, 2), min_size=entities, max_size=entities), min_size=n, max_size=n))
    masked, top_masked, wanted = [], [], []
    for _ in range(n):
        state = draw(st.lists(st.integers(0, 4), min_size=entities, max_size=entities))
        masked.append({e for e, s in enumerate(state) if s == 1})
        wanted.append({e for e, s in enumerate(state) if s in (2, 3)})
        top_masked.append({e for e, s in enumerate(state) if s == 3})
    k, seed, batch = draw(st.integers(0, 14)), draw(st.integers(0, 5)), draw(st.integers(1, 7))
    tile, chunk = draw(st.integers(1, 5)), draw(st.one_of(st.none(), st.integers(1, 13)))
    return rows, masked, top_masked, wanted, k, seed, batch, tile, chunk


@given(problems())
@settings(max_examples=250)
def test_score_questions_equals_oracle_with_ties(problem):
    """In chunks of whole tiles, which are a few entities here."""
    rows, masked, top_masked, wanted, k, seed, batch, tile, chunk = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "TILE", tile)
        check_against_oracle(rows, masked, top_masked, wanted, k, seed, batch, chunk)


def check_against_oracle(rows, masked, top_masked, wanted, k, seed, batch, chunk):
    entities, n = len(rows[0]), len(rows)
    table = np.zeros((2, 1, max(n, entities), entities))
    table[0, 0, :n] = rows
    result = score_questions(
        FixedScores(table),
        tail_questions(range(n)),
        masked=csr_of(masked),
        top_masked=csr_of(top_masked),
        wanted=csr_of(wanted),
        top_k=k,
        seed=seed,
        batch_size=batch,
        chunk=chunk,
    )
    assert result.top_entity.shape == result.top_score.shape == (n, k)
    order, ranks = tie_order(entities, seed), []
    for i in range(n):
        expected, top, raw = oracle(rows[i], masked[i], top_masked[i], wanted[i], k, order)
        ranks += expected
        assert result.top_entity[i].tolist() == top + [-1] * (k - len(top))
        assert result.top_raw[i].tolist() == raw + [0] * (k - len(raw))
        assert result.top_score[i].tolist() == [rows[i][e] for e in top] + [-np.inf] * (k - len(top))
    assert list(zip(result.strict, result.optimistic, result.pessimistic, strict=True)) == ranks


def random_problem(seed=0, n=50, entities=300):
    rng = np.random.default_rng(seed)
    table = rng.integers(-3, 4, size=(2, 1, n, entities)).astype(float)
    masked = [set(rng.choice(100, 5).tolist()) for _ in range(n)]
    wanted = [set((100 + rng.choice(200, 3)).tolist()) for _ in range(n)]
    return FixedScores(table), tail_questions(range(n)), csr_of(masked), csr_of(wanted)


@pytest.mark.parametrize("batch", [1, 7, 49, 50, 1000])
def test_score_questions_any_batch_size_same_result(batch):
    scorer, questions, masked, wanted = random_problem()
    kwargs = {"masked": masked, "top_masked": wanted, "wanted": wanted, "top_k": 20, "seed": 1}
    expected = score_questions(scorer, questions, **kwargs)
    result = score_questions(scorer, questions, batch_size=batch, **kwargs)
    for a, b in zip(result, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_score_questions_other_tie_seed_other_strict_order_same_bounds():
    scorer, questions, masked, wanted = random_problem()
    first, other = (
        score_questions(scorer, questions, masked=masked, top_masked=wanted, wanted=wanted, top_k=20, seed=s)
        for s in (1, 2)
    )
    assert not np.array_equal(first.strict, other.strict)
    assert not np.array_equal(first.top_entity, other.top_entity)
    np.testing.assert_array_equal(first.optimistic, other.optimistic)
    np.testing.assert_array_equal(first.pessimistic, other.pessimistic)
    np.testing.assert_array_equal(first.top_score, other.top_score)
    assert (first.optimistic <= first.strict).all() and (first.strict <= first.pessimistic).all()


def test_score_questions_wanted_and_masked_is_error():
    scorer, questions, masked, _ = random_problem()
    wanted = csr_of([[]] * 3 + [[int(masked.indices[masked.indptr[3]])]] + [[]] * 46)
    with pytest.raises(ValueError, match=f"entity {wanted.indices[0]} is wanted and masked.*tail question of entity 3"):
        score_questions(scorer, questions, masked=masked, top_masked=masked, wanted=wanted, seed=0)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_score_questions_not_finite_names_question(value):
    scorer, questions, masked, wanted = random_problem()
    scorer.table[0, 0, 7, int(masked.indices[masked.indptr[7]])] = value  # even where it is masked
    scorer.table[0, 0, 30, 5] = value  # the first question is named
    scorer.label = "TransX"
    with pytest.raises(
        NotFinite, match=r"^TransX: the scores of the tail question of entity 7, relation 0 are not finite"
    ):
        score_questions(scorer, questions, masked=masked, top_masked=masked, wanted=wanted, seed=0)


def test_score_questions_huge_scores_are_finite():
    scorer = FixedScores(np.full((2, 1, 1, 5), 3e38))
    one = csr_of([[4]])
    result = score_questions(
        scorer, tail_questions([0]), masked=csr_of([[]]), top_masked=csr_of([[]]), wanted=one, top_k=5, seed=0
    )
    assert (result.optimistic[0], result.pessimistic[0]) == (1, 5)


def test_score_questions_progress_and_stop():
    scorer, questions, masked, wanted = random_problem()
    seen = []
    with pytest.raises(InterruptedError, match="40 of 50"):
        score_questions(
            scorer,
            questions,
            masked=masked,
            top_masked=wanted,
            wanted=wanted,
            seed=0,
            batch_size=20,
            watch=Watch(lambda done, total: seen.append((done, total)), lambda: len(seen) == 2),
        )
    assert seen == [(20, 50), (40, 50)]


def test_score_questions_no_questions():
    empty = csr_of([])
    result = score_questions(
        random_problem()[0], tail_questions([]), masked=empty, top_masked=empty, wanted=empty, top_k=5, seed=0
    )
    assert result.top_entity.shape == (0, 5) and len(result.strict) == 0


@pytest.mark.parametrize("chunk", [None, 1])
def test_score_questions_all_scores_equal_ranks_span_all_candidates(chunk, monkeypatch):
    monkeypatch.setattr(ranking, "TILE", 3)
    scorer, order = FixedScores(np.full((2, 1, 2, 10), 0.25)), tie_order(10, 7)
    result = score_questions(
        scorer,
        tail_questions([0, 1]),
        masked=csr_of([[4], []]),
        top_masked=csr_of([[], []]),
        wanted=csr_of([[2], [2, 9]]),
        top_k=4,
        seed=7,
        chunk=chunk,
    )
    first = [e for e in order.tolist() if e != 4]
    assert result.optimistic.tolist() == [1, 1, 1] and result.pessimistic.tolist() == [9, 10, 10]
    assert result.strict.tolist() == [1 + first.index(2), *(1 + order.tolist().index(e) for e in (2, 9))]
    assert result.top_entity.tolist() == [first[:4], order[:4].tolist()]


@pytest.mark.parametrize("chunk", [None, 1024])
def test_score_questions_duplicated_entities_tie(chunk):
    """Twins far apart, in other chunks: the same vector gives the same bits."""
    spec, entities = get_model("distmult"), 2100
    chosen = resolve_settings("distmult", entities, 10, {"embedding_dim": 40})
    model = build_model(spec, entities, 1, chosen, seed=3)
    with torch.no_grad():
        weight = model.entity_representations[0]._embeddings.weight
        weight[1500:2000] = weight[:500]
    wanted = csr_of([[e] for e in range(60)])
    empty = csr_of([[]] * 60)
    result = score_questions(
        Scorer(spec, model),
        tail_questions(range(500, 560)),
        masked=empty,
        top_masked=empty,
        wanted=wanted,
        top_k=0,
        seed=0,
        chunk=chunk,
    )
    np.testing.assert_array_equal(result.pessimistic - result.optimistic, 1)
    place = np.argsort(tie_order(entities, 0))
    later = place[:60] > place[1500:1560]
    np.testing.assert_array_equal(result.strict - result.optimistic, later)


def test_score_questions_holds_no_more_scores_than_the_buffer(monkeypatch):
    scorer, questions, masked, wanted = random_problem(entities=3000)
    asked, in_order = [], scorer.in_order

    def noting(order):
        scores = in_order(order)

        def note(*question, out):
            asked.append(out.shape)
            return scores(*question, out=out)

        return note

    kwargs = {"masked": masked, "top_masked": wanted, "wanted": wanted, "top_k": 20, "seed": 1, "batch_size": 25}
    expected = score_questions(scorer, questions, **kwargs)
    monkeypatch.setattr(ranking, "TILE", 64)
    monkeypatch.setattr(ranking, "BUFFER_FLOATS", 25 * 500)
    scorer.in_order = noting
    result = score_questions(scorer, questions, **kwargs)
    assert max(rows * columns for rows, columns in asked) == 25 * 448  # whole tiles
    for a, b in zip(result, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_score_questions_stop_is_heard_between_chunks(monkeypatch):
    monkeypatch.setattr(ranking, "TILE", 100)
    scorer, questions, masked, wanted = random_problem()
    heard = []
    with pytest.raises(InterruptedError, match="after 0 of 50"):
        score_questions(
            scorer,
            questions,
            masked=masked,
            top_masked=wanted,
            wanted=wanted,
            seed=0,
            chunk=100,
            watch=Watch(stop=lambda: heard.append(1) or len(heard) == 4),
        )


@pytest.mark.parametrize("fails", [False, True])
def test_score_questions_full_precision_within_only(fails):
    scorer, questions, masked, wanted = random_problem()
    seen, in_order, before = [], scorer.in_order, torch.get_float32_matmul_precision()

    def noting(order):
        seen.append(torch.get_float32_matmul_precision())
        if fails:
            raise RuntimeError
        return in_order(order)

    scorer.in_order = noting
    torch.set_float32_matmul_precision("medium")
    try:
        score_questions(scorer, questions, masked=masked, top_masked=wanted, wanted=wanted, seed=0)
    except RuntimeError:
        assert fails
    finally:
        after = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision(before)
    assert set(seen) == {"highest"} and after == "medium"


def test_entries_in_any_order_of_questions():
    csr = csr_of([[1, 2], [], [0, 5, 7]])
    row, at = entries(csr, np.array([2, 1, 0]))
    assert row.tolist() == [0, 0, 0, 2, 2] and csr.indices[at].tolist() == [0, 5, 7, 1, 2]


def test_questions_of_dedupes_and_points_back():
    triples = np.array([[0, 0, 1], [0, 0, 2], [2, 1, 1], [0, 0, 1]], np.int32)
    questions, tail_q, head_q = questions_of(triples)
    rows = list(zip(*(x.tolist() for x in questions), strict=True))
    assert rows == [(TAIL, 0, 0), (TAIL, 2, 1), (HEAD, 1, 0), (HEAD, 2, 0), (HEAD, 1, 1)]
    assert [rows[i] for i in tail_q] == [(TAIL, h, r) for h, r, _ in triples.tolist()]
    assert [rows[i] for i in head_q] == [(HEAD, t, r) for _, r, t in triples.tolist()]
    assert (questions.side.dtype, questions.entity.dtype, questions.relation.dtype) == (np.int8, np.int32, np.int32)


def test_answers_csr_equals_loop():
    rng = np.random.default_rng(0)
    triples = rng.integers(0, [9, 3, 9], size=(60, 3)).astype(np.int32)
    asked = rng.integers(0, [9, 3, 9], size=(20, 3)).astype(np.int32)  # some without an answer
    questions, _, _ = questions_of(asked)
    csr = answers_csr(questions, triples, 9, 3)
    for i, (side, entity, relation) in enumerate(zip(*questions, strict=True)):
        given, wanted = (0, 2) if side == TAIL else (2, 0)
        expected = sorted({t[wanted] for t in triples.tolist() if t[given] == entity and t[1] == relation})
        assert csr.indices[csr.indptr[i] : csr.indptr[i + 1]].tolist() == expected
    assert (csr.indptr.dtype, csr.indices.dtype) == (np.int64, np.int32)


def test_answers_csr_large_ids_do_not_overflow():
    entities, relations = 4_600_000, 822
    triples = np.array([[entities - 1, relations - 1, entities - 2]], np.int32)
    questions, _, _ = questions_of(triples)
    csr = answers_csr(questions, triples, entities, relations)
    assert csr.indices.tolist() == [entities - 2, entities - 1]


def test_rank_of_triples_leaves_other_answers_out_with_ties():
    rng = np.random.default_rng(3)
    train = rng.integers(0, [8, 2, 8], size=(25, 3))
    triples = rng.integers(0, [8, 2, 8], size=(20, 3))
    table = rng.integers(0, 3, size=(2, 2, 8, 8)).astype(float)
    ranks = rank_of_triples(FixedScores(table), triples, train, num_relations=2, seed=4)
    known = {tuple(x) for x in np.concatenate([train, triples]).tolist()}
    order = tie_order(8, 4)
    expected = []
    for side in (TAIL, HEAD):
        for h, r, t in triples.tolist():
            given, answer = (h, t) if side == TAIL else (t, h)
            others = {e for e in range(8) if ((h, r, e) if side == TAIL else (e, r, t)) in known} - {answer}
            expected += oracle(table[side, r, given], others, set(), {answer}, 0, order)[0]
    assert list(zip(ranks.strict, ranks.optimistic, ranks.pessimistic, strict=True)) == expected


@pytest.fixture(scope="module", params=["Nations", "UMLS"])
def dataset(request):
    import pykeen.datasets

    return getattr(pykeen.datasets, request.param)(create_inverse_triples=True)


@pytest.mark.parametrize("name", ["transe", "rotate", "complex", "distmult", "rescal", "conve"])
def test_ranks_equal_pykeen_evaluator(dataset, name):
    from pykeen.evaluation import RankBasedEvaluator

    train, valid = dataset.training.mapped_triples, dataset.validation.mapped_triples
    relations = dataset.training.real_num_relations
    test = dataset.testing.mapped_triples[:400]
    chosen = resolve_settings(name, dataset.num_entities, len(train), {"embedding_dim": 12})
    model = build_model(get_model(name), dataset.num_entities, relations, chosen, seed=1)
    evaluator = RankBasedEvaluator(clear_on_finalize=False)
    evaluated = evaluator.evaluate(model, test, additional_filter_triples=[train, valid], batch_size=50, use_tqdm=False)
    theirs = {
        kind: np.concatenate([np.concatenate(evaluator.ranks[(side, kind)]) for side in ("tail", "head")])
        for kind in ("optimistic", "pessimistic", "realistic")
    }
    filters = (train.numpy(), valid.numpy())
    same = rank_of_triples(PykeenScores(model), test.numpy(), *filters, num_relations=relations)
    for kind, expected in theirs.items():
        np.testing.assert_array_equal(getattr(same, kind), expected)
    assert same.mrr == pytest.approx(evaluated.get_metric("both.realistic.inverse_harmonic_mean_rank"), rel=1e-6)
    ours = rank_of_triples(Scorer(get_model(name), model), test.numpy(), *filters, num_relations=relations)
    assert ours.mrr == pytest.approx(same.mrr, abs=1e-5)
    off = np.abs(ours.realistic - theirs["realistic"])
    assert off.max() <= 1 and (off == 0).mean() >= 0.998


def test_loops_look_at_more_questions_at_once_where_their_scores_fit(monkeypatch):
    scorer, questions, _, _ = random_problem()
    by_loops = batches.LEAST_SCORES == 0

    def batch_size(given=None):
        return ranking._Ranking(scorer, questions, 5, 0, given, None, Watch()).batch_size

    assert (batch_size(), batch_size(7)) == (2048 if by_loops else 256, 7)
    monkeypatch.setattr(ranking, "BUFFER_FLOATS", 300 * 700)
    assert batch_size() == (512 if by_loops else 256)
    monkeypatch.setattr(ranking, "BUFFER_FLOATS", 300)
    assert batch_size() == 256
