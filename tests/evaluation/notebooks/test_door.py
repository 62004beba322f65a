"""The door for notebooks: what `from evaluation import …` gives, and that the page about it is true."""

import contextlib
import doctest
import importlib
import inspect
import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from scipy import stats

import evaluation
from evaluation import LabelState

SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "Notes", "Examples")  # in the order of numpydoc
ROOT = Path(__file__).resolve().parents[3]
RUNS = pd.DataFrame(
    [
        ("A", "q1", "a", 3.0),
        ("A", "q1", "b", 2.0),
        ("A", "q1", "c", 2.0),
        ("A", "q1", "d", 1.0),
        ("A", "q2", "a", 0.5),
        ("A", "q2", "b", 0.4),
        ("B", "q1", "d", 9.0),
        ("B", "q1", "a", 8.0),
    ],
    columns=["system", "question", "candidate", "score"],
)
QRELS = pd.DataFrame(
    [("q1", "a", 1), ("q1", "b", 1), ("q1", "d", 0), ("q2", "b", 1), ("q2", "e", -1)],
    columns=["question", "candidate", "label"],
)


def drawn(seed, systems=3, questions=8, candidates=12):
    """Runs without ties that miss some candidates and questions, and labels of all three kinds."""
    rng = np.random.default_rng(seed)
    lines = [
        (f"s{s}", f"q{q}", f"e{e}", float(score))
        for s in range(systems)
        for q in range(questions)
        if rng.random() < 0.9
        for e, score in enumerate(rng.permutation(100)[:candidates])
        if rng.random() < 0.8
    ]
    runs = pd.DataFrame(lines, columns=["system", "question", "candidate", "score"])
    labels = [
        (f"q{q}", f"e{e}", int(rng.integers(-1, 2)))
        for q in range(questions)
        for e in rng.permutation(candidates + 2)[:6]
    ]
    return runs, pd.DataFrame(labels, columns=["question", "candidate", "label"])


def test_positions_of_ties_missing_candidates_and_missing_lists():
    table = evaluation.rank_table(RUNS, QRELS).prepared.table
    assert table.question.tolist() == [0, 0, 0, 1, 1]
    assert table.optimistic.tolist() == [[1, 2, 4, 2, 0], [2, 0, 1, 0, 0]]
    assert table.pessimistic.tolist() == [[1, 3, 4, 2, 0], [2, 0, 1, 0, 0]]
    assert table.candidates.tolist() == [4, 3]  # a, b, c, d and a, b, e are named


def test_ties_follow_the_generator_and_no_system():
    orders = set()
    runs = pd.concat([RUNS, RUNS[RUNS["system"] == "A"].assign(system="C")])
    for seed in range(20):
        strict = evaluation.rank_table(runs, QRELS, rng=np.random.default_rng(seed)).prepared.table.strict
        assert strict[2].tolist() == strict[0].tolist()
        assert strict[0, [0, 2, 3, 4]].tolist() == [1, 4, 2, 0]
        orders.add(int(strict[0, 1]))
    assert orders == {2, 3}


def test_states_of_numbers_and_words():
    words = QRELS.assign(label=["positive", "assumed negative", "negative", "unjudged", 1.0])
    expected = [
        LabelState.POSITIVE,
        LabelState.ASSUMED_NEGATIVE,
        LabelState.NEGATIVE,
        LabelState.UNJUDGED,
        LabelState.POSITIVE,
    ]
    assert evaluation.rank_table(RUNS, words).state.tolist() == expected


@pytest.mark.parametrize("seed", range(5))
def test_measures_equal_trec_eval(seed):
    runs, qrels = drawn(seed)
    ranked = evaluation.rank_table(runs, qrels)
    judged = {q: dict(zip(of["candidate"], of["label"], strict=True)) for q, of in qrels.groupby("question")}
    names = {"map": "map", "ndcg@20": "ndcg_cut_20", "bpref": "bpref", "infap": "infAP"}
    oracle = pytrec_eval.RelevanceEvaluator(judged, {"map", "ndcg_cut.20", "bpref", "infAP"})
    asked = [q for q in ranked.questions if 1 in judged[q].values()]
    found = evaluation.evaluate(ranked, names)
    for system, of in runs.groupby("system"):
        lists = {q: dict(zip(part["candidate"], part["score"], strict=True)) for q, part in of.groupby("question")}
        theirs = oracle.evaluate(lists)
        for ours, name in names.items():
            single = [theirs[q][name] if q in theirs else 0.0 for q in asked]
            assert found.loc[system, ours] == pytest.approx(np.mean(single), abs=1e-6)
            values = evaluation.per_question(ranked, ours)
            assert values.index.tolist() == asked
            np.testing.assert_allclose(values[system], single, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_ranks_give_what_their_scores_give(seed):
    runs, qrels = drawn(seed)
    rank = runs.groupby(["system", "question"])["score"].rank(ascending=False).astype(int)
    by_rank = evaluation.rank_table(runs.drop(columns="score").assign(rank=rank), qrels)
    names = ["micro_mrr", "macro_hits@3", "map", "bpref", "judged@10"]
    pd.testing.assert_frame_equal(
        evaluation.evaluate(by_rank, names), evaluation.evaluate(evaluation.rank_table(runs, qrels), names)
    )


def test_order_of_the_lines_changes_nothing():
    runs, qrels = drawn(4)
    shuffled = [frame.sample(frac=1, random_state=1) for frame in (runs, qrels)]
    mixed = evaluation.evaluate(evaluation.rank_table(*shuffled))
    expected = evaluation.evaluate(evaluation.rank_table(runs, qrels))
    pd.testing.assert_frame_equal(mixed.loc[expected.index], expected)


def test_undefined_measure_is_nan_with_its_reason():
    ranked = evaluation.rank_table(RUNS, QRELS)
    assert evaluation.evaluate(ranked, ["micro_mr"])["micro_mr"].isna().tolist() == [False, True]
    why = evaluation.reasons(ranked, ["micro_mr", "micro_mrr"])
    assert why.loc["B", "micro_mr"] == "the run did not return 2 of 3 answers; a mean rank needs all"
    assert (why.loc["A", "micro_mr"], why["micro_mrr"].tolist()) == ("", ["", ""])
    nothing = ranked.relabelled(QRELS.assign(label=0))
    assert evaluation.evaluate(nothing, ["map"])["map"].isna().all()
    assert set(evaluation.reasons(nothing, ["map"])["map"]) == {"no question has an answer under these labels"}


def test_values_per_answer_and_per_question():
    ranked = evaluation.rank_table(RUNS, QRELS)
    answers = evaluation.per_answer(ranked, "micro_mrr")
    assert answers.index.tolist() == [("q1", "a"), ("q1", "b"), ("q2", "b")]
    # without the other answer b and c tie for the first two places: rank 1.5
    assert answers["A"].tolist() == pytest.approx([1, 1 / 1.5, 1 / 2])
    assert answers["B"].tolist() == [1 / 2, 0, 0]
    assert evaluation.per_question(ranked, "micro_mrr")["A"].tolist() == pytest.approx([(1 + 1 / 1.5) / 2, 1 / 2])
    with pytest.raises(ValueError, match="'map' has one value per question"):
        evaluation.per_answer(ranked, "map")


def test_geometric_mean_of_a_question_is_of_its_ranks():
    ranked = evaluation.rank_table(RUNS[RUNS["system"] == "A"], QRELS)
    assert evaluation.per_answer(ranked, "gmr")["A"].tolist() == pytest.approx([1, 1.5, 2])
    assert evaluation.per_question(ranked, "gmr")["A"].tolist() == pytest.approx([1.5**0.5, 2])


def test_given_numbers_of_candidates_reach_the_measures():
    by_question = evaluation.rank_table(RUNS, QRELS, candidates={"q1": 4, "q2": 50})
    assert by_question.prepared.table.candidates.tolist() == [4, 50]
    assert evaluation.rank_table(RUNS, QRELS, candidates=30).prepared.table.candidates.tolist() == [30, 30]
    found = evaluation.per_question(by_question, "judged@10")["A"]
    assert found.tolist() == pytest.approx([3 / 4, 1 / 2])  # of 4 and of 2 candidates returned
    number = evaluation.values(by_question.prepared, by_question.state, ["amr"])["amr"].chance
    assert number is not None and number.candidates.tolist() == [3, 3, 50]


def test_t_tests_equal_scipy_s_and_micro_is_clustered():
    runs, qrels = drawn(5)
    ranked = evaluation.rank_table(runs, qrels)
    tests, values = evaluation.compare(ranked, "map"), evaluation.per_question(ranked, "map")
    assert list(zip(tests["first"], tests["second"], strict=True)) == [("s0", "s1"), ("s0", "s2"), ("s1", "s2")]
    for row in tests.itertuples():
        expected = stats.ttest_rel(values[row.first], values[row.second])
        assert (row.t, row.p) == pytest.approx((expected.statistic, expected.pvalue))
        assert row.difference == pytest.approx((values[row.first] - values[row.second]).mean())
    ordered = tests.sort_values("p")
    holm = np.minimum(np.maximum.accumulate(ordered["p"].to_numpy() * [3, 2, 1]), 1)
    np.testing.assert_allclose(ordered["p_holm"], holm)
    clustered, plain = (evaluation.compare(ranked, "micro_mrr", clustered=c) for c in (None, False))
    answers = evaluation.per_answer(ranked, "micro_mrr")
    assert clustered["clusters"].tolist() == [answers.index.get_level_values(0).nunique()] * 3
    assert plain["clusters"].tolist() == plain["units"].tolist() == [len(answers)] * 3
    expected = stats.ttest_rel(answers["s0"], answers["s1"])
    assert plain["p"][0] == pytest.approx(expected.pvalue) != clustered["p"][0]


def test_correlation_of_two_label_sets_of_one_table():
    runs, qrels = drawn(6, systems=6)
    ranked = evaluation.rank_table(runs, qrels)
    fewer = ranked.relabelled(qrels.groupby("question").head(2))
    found = evaluation.correlate(ranked, fewer, ["micro_mrr", "map"], resamples=50)
    for name in ("micro_mrr", "map"):
        one, other = (evaluation.evaluate(r, [name])[name] for r in (ranked, fewer))
        assert found.loc[name, "tau_b"] == pytest.approx(stats.kendalltau(one, other).statistic)
        assert found.loc[name, "spearman"] == pytest.approx(stats.spearmanr(one, other).statistic)
        assert -1 <= found.loc[name, "low"] <= found.loc[name, "high"] <= 1
    again = evaluation.correlate(ranked, fewer, ["micro_mrr", "map"], resamples=50)
    pd.testing.assert_frame_equal(found, again)
    with pytest.raises(ValueError, match="label sets of the same table"):
        evaluation.correlate(ranked, evaluation.rank_table(*drawn(7, systems=2)), ["map"])


def test_tie_of_all_systems_has_no_correlation_and_no_interval():
    lists = [("A", "q1", "ab"), ("A", "q2", "ba"), ("B", "q1", "ba"), ("B", "q2", "ab")]  # each wins one question
    lines = [(system, q, c, rank) for system, q, order in lists for rank, c in enumerate(order, 1)]
    runs = pd.DataFrame(lines, columns=["system", "question", "candidate", "rank"])
    qrels = pd.DataFrame({"question": ["q1", "q2"], "candidate": ["a", "a"], "label": [1, 1]})
    ranked = evaluation.rank_table(runs, qrels)
    assert evaluation.evaluate(ranked, ["map"])["map"].tolist() == [0.75, 0.75]
    found = evaluation.correlate(ranked, ranked, ["map"], resamples=20)
    assert found.loc["map", ["tau_b", "low", "high"]].isna().all()


def test_relabelled_keeps_positions_and_forgets_what_is_not_named():
    ranked = evaluation.rank_table(RUNS, QRELS)
    fewer = ranked.relabelled(QRELS.iloc[[3, 0]])
    positive, other = LabelState.POSITIVE, LabelState.NOT_POOLED
    assert fewer.state.tolist() == [positive, other, other, positive, other]
    assert fewer.prepared is ranked.prepared
    stranger = pd.DataFrame({"question": ["q1"], "candidate": ["zz"], "label": [1]}, index=[7])
    with pytest.raises(ValueError, match=r"row 7 \(question 'q1', candidate 'zz', label 1\) is not in the table"):
        ranked.relabelled(stranger)


@pytest.mark.parametrize(
    ("runs", "qrels", "message"),
    [
        (RUNS.drop(columns="candidate"), QRELS, "runs has no column 'candidate'; it has system, question, score"),
        (RUNS, QRELS.drop(columns="label"), "qrels has no column 'label'; it has question, candidate"),
        (RUNS.drop(columns="score"), QRELS, "a column 'score' or a column 'rank', not neither"),
        (RUNS.assign(rank=1), QRELS, "a column 'score' or a column 'rank', not both"),
        (RUNS.assign(score="x"), QRELS, "column 'score' of runs holds no numbers"),
        (
            RUNS.assign(score=[1, 2, np.nan, *range(5)]), QRELS,
            "runs row 2 (system 'A', question 'q1', candidate 'c', score nan): the score is not a finite number",
        ),
        (RUNS.assign(score=[1, np.inf, *range(6)]), QRELS, "runs row 1 (system 'A', question 'q1', candidate 'b'"),
        (pd.concat([RUNS, RUNS.iloc[[4]].set_axis([99])]), QRELS, "runs row 99 (system 'A', question 'q2'"),
        (RUNS.assign(question=None), QRELS, "runs row 0 (system 'A', question None"),
        (RUNS.drop(columns="score").assign(rank=0), QRELS, "a rank is a whole number from 1"),
        (
            RUNS.drop(columns="score").assign(rank=[1, 2, 2, 3, 1, 2, 1, 2]), QRELS,
            "runs row 2 (system 'A', question 'q1', candidate 'c', rank 2): another candidate of the same list",
        ),
        (RUNS, QRELS.assign(label=[1, 1, 2, 0, 0]), "qrels row 2 (question 'q1', candidate 'd', label 2): the"),
        (RUNS, QRELS.assign(label=[1, 1, None, 0, 0]), "qrels row 2 (question 'q1', candidate 'd', label nan)"),
        (RUNS, pd.concat([QRELS, QRELS.iloc[[0]].assign(label=0)]), "the question, candidate stand in an earlier row"),
        (RUNS, QRELS.assign(question=range(5)), "no question of runs is in qrels: runs has 'q1', qrels 0"),
    ],
)  # fmt: skip
def test_wrong_frames_are_refused_with_row_and_column(runs, qrels, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        evaluation.rank_table(runs, qrels)


def test_wrong_numbers_of_candidates_and_measures_are_refused():
    with pytest.raises(ValueError, match="candidates has no number for question 'q2'"):
        evaluation.rank_table(RUNS, QRELS, candidates={"q1": 9})
    with pytest.raises(ValueError, match="question 'q1' has 3 candidates, but runs and labels need 4"):
        evaluation.rank_table(RUNS, QRELS, candidates=3)
    with pytest.raises(ValueError, match="unknown measure 'mapp'; known, with k from 1, are micro_mr"):
        evaluation.evaluate(evaluation.rank_table(RUNS, QRELS), ["mapp"])


def test_frames_without_a_line_evaluate_to_nothing():
    no_labels = evaluation.evaluate(evaluation.rank_table(RUNS, QRELS.iloc[:0]), ["map", "micro_mrr"])
    assert (no_labels.index.tolist(), no_labels.isna().all(axis=None)) == (["A", "B"], True)
    assert evaluation.evaluate(evaluation.rank_table(RUNS.iloc[:0], QRELS), ["map"]).shape == (0, 1)


def test_door_opens_without_django_torch_or_pykeen():
    program = """
import sys
import evaluation
assert not {"numpy", "pandas", "django"} & set(sys.modules), "the package itself imports nothing"
from evaluation import *
import pandas as pd
ranked = rank_table(
    pd.DataFrame({"system": ["a"], "question": [1], "candidate": [2], "score": [0.5]}),
    pd.DataFrame({"question": [1], "candidate": [2], "label": [1]}),
)
print(evaluate(ranked, ["map"]).loc["a", "map"], sorted({"django", "torch", "pykeen"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, env={})
    assert (done.stdout, done.stderr) == ("1.0 []\n", "")


def test_everything_promised_is_there():
    for name in evaluation.__all__:
        assert getattr(evaluation, name).__name__ == name if name != "MEASURES" else evaluation.MEASURES
        assert name in dir(evaluation)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        evaluation.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("home", "names"),
    [
        ("evaluation.statistics.growth", "accumulation_curve depth_curve"),
        ("evaluation.statistics.stability", "question_stability stability_curve half_curve"),
        ("evaluation.statistics.tukey_hsd", "randomised_tukey"),
        ("evaluation.statistics.bootstrap", "bootstrap_correlations bootstrap_places"),
        ("evaluation.statistics.groups", "by_side by_relation by_category by_popularity group_means reweighted boxes"),
        ("pooling.pools.kernels.shares", "divergence shares"),
    ],
)
def test_statistics_of_the_pages_go_through_the_door_and_are_shown(home, names):
    module = importlib.import_module(home)
    page = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    for name in names.split():
        assert getattr(evaluation, name) is getattr(module, name) and name in evaluation.__all__
        assert f"{name}(" in page


@pytest.mark.parametrize("name", [name for name in evaluation.__all__ if name != "MEASURES"])
def test_docstrings_say_what_goes_in_and_out_and_their_examples_run(name):
    thing = getattr(evaluation, name)
    text = inspect.getdoc(thing)
    headings = re.findall(r"^(\w+)\n-+$", text, re.M)
    assert headings == [one for one in SECTIONS if one in headings] and headings[-1] == "Examples"
    if not isinstance(thing, type):
        taken = inspect.signature(thing).parameters
        assert "Returns" in headings and ("Parameters" in headings) == bool(taken)
        described = re.findall(r"^(\w[\w, ]*) : ", text, re.M)
        assert [one for names in described for one in names.split(", ")] == list(taken)
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    printed = io.StringIO()
    with pd.option_context("display.width", 120):
        found = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, out=printed.write)
    assert found.attempted > 1 and found.failed == 0, printed.getvalue()


def test_page_about_notebooks_prints_what_it_says():
    text = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", text, re.S)
    assert len(blocks) >= 13
    names: dict[str, object] = {}
    with pd.option_context("display.width", 100):
        for code, said in blocks:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(code, names)
            lines = [line.rstrip() for line in printed.getvalue().splitlines()]
            assert lines == said.splitlines(), code
