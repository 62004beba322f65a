"""What the overview says in words, places and lines."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluation.labels import pool_table as table
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table, systems_with_runs
from evaluation.measures.registry import parse_measure
from evaluation.models import Figure
from evaluation.overview import rankings
from evaluation.overview.rankings import leader, ordinal, overview, rank_changes, sentence, slope_lines
from evaluation.pages.registry import get_analysis
from evaluation.sections.figure_cache import part_figure
from evaluation.sections.metrics import metrics
from evaluation.sections.settings import RANKING, Settings
from evaluation.statistics.bootstrap import bootstrap_places
from pooling.models import Pool
from tests.evaluation.oracle import Oracle, positives_of, seeds_of

MRR, MR = parse_measure("micro_mrr"), parse_measure("micro_mr")


def values(measure: str, **by_system: float | None) -> dict[str, dict[str, float | None]]:
    return {system: {measure: value} for system, value in by_system.items()}


def test_places_follow_the_direction_of_the_measure():
    sparse, completed = values("micro_mrr", a=0.3, b=0.2, c=0.1), values("micro_mrr", a=0.3, b=0.5, c=0.4)
    found = rank_changes(sparse, completed, MRR)
    assert [(p.system, p.sparse, p.completed, p.moved, p.down, p.series) for p in found] == [
        ("b", 2, 1, 1, -1, 2),
        ("c", 3, 2, 1, -1, 3),
        ("a", 1, 3, -2, 2, 1),
    ]
    found = rank_changes(values("micro_mr", a=3, b=2), values("micro_mr", a=2, b=3), MR)
    assert [(p.system, p.sparse, p.completed) for p in found] == [("a", 2, 1), ("b", 1, 2)]


def test_ties_share_a_place_and_what_is_undefined_has_none():
    sparse = values("micro_mrr", a=0.1, b=0.1 + 1e-15, c=0.05, d=None)
    found = rank_changes(sparse, values("micro_mrr", a=0.2, b=0.1, c=0.2, d=0.3), MRR)
    assert [(p.system, p.sparse, p.completed) for p in found] == [("a", 1, 1), ("c", 3, 1), ("b", 1, 3)]


def test_slopes_put_tied_systems_beneath_each_other():
    found = rank_changes(values("micro_mrr", a=0.1, b=0.1), values("micro_mrr", a=0.1, b=0.2), MRR)
    assert [(line.change.system, line.y1, line.y2) for line in slope_lines(found)] == [("b", 20, 20), ("a", 60, 60)]


@pytest.mark.parametrize(
    ("n", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (13, "13th"), (21, "21st"), (112, "112th")],
)
def test_ordinals(n, text):
    assert ordinal(n) == text


def test_the_leader_is_named_with_what_other_questions_could_make_of_its_place():
    now = values("micro_mrr", transe=0.3, b=0.25, c=0.1)
    spans = {"low": [1, 1, 3], "high": [1, 2, 3], "undecided": 1, "pairs": 3, "questions": 9}
    assert leader(rank_changes(now, now, MRR, spans), MRR) == "TransE is best by Micro MRR (0.3000)."
    spans["high"] = [2, 2, 3]
    assert leader(rank_changes(now, now, MRR, spans), MRR) == (
        "TransE is best by Micro MRR (0.3000). Its place is not certain: 1st to 2nd if other questions were drawn "
        "(95 % interval)."
    )
    tied = values("micro_mrr", transe=0.3, b=0.3)
    assert leader(rank_changes(tied, tied, MRR), MRR) == "b and TransE tie as best by Micro MRR."
    assert leader([], MRR) == ""


def test_the_sentence_says_what_changed():
    sparse = values("micro_mrr", a=0.3, b=0.2, c=0.1)
    moved = rank_changes(sparse, values("micro_mrr", a=0.3, b=0.2, c=0.4), MRR)
    tau = {"tau": -1 / 3, "low": -1.0, "high": 0.5, "questions": 1234}
    assert sentence(moved, MRR, tau, 5) == (
        "c rises from 3rd to 1st by Micro MRR; 2 other systems move. "
        "Tau, seeds against labels, is −0.33 "
        "(95 % interval −1.00 to 0.50; n = 1,234 questions)."
    )
    swapped = rank_changes(values("micro_mrr", a=0.3, b=0.2), values("micro_mrr", a=0.1, b=0.2), MRR)
    undefined = {"tau": None, "low": None, "high": None, "questions": 3}
    assert sentence(swapped, MRR, undefined, 5) == (
        "b rises from 2nd to 1st by Micro MRR; 1 other system moves. Tau is undefined."
    )
    known = rank_changes(values("micro_mrr", rescal=0.3, b=0.2), values("micro_mrr", rescal=0.1, b=0.2), MRR)
    assert sentence(known[::-1], MRR, undefined, 5).startswith("RESCAL falls from 1st to 2nd")
    same = rank_changes(sparse, sparse, MRR)
    assert sentence(same, MRR, tau, 2000) == ("2,000 new positive triples leave the order by Micro MRR as it was.")
    assert sentence(same, MRR, tau, 0) == ("No new positive triple yet: the completed ranking is the sparse one.")


def test_an_overview_has_the_values_of_both_label_sets_and_marks_the_best(labelled: Pool):
    found = overview(labelled, "macro_mrr")
    now, before = (metrics(labelled, key, [*RANKING, "judged@10", "bpref"])["systems"] for key in ("current", "seeds"))
    for row in found["rows"]:
        for column, cell in zip(found["columns"], row["cells"], strict=True):
            name = column.name
            assert (cell["value"], cell["before"]) == (now[row["system"]][name], before[row["system"]][name])
            best = max(now[system][name] for system in now)
            assert cell["best"] == (name != "judged@10" and cell["value"] == best)  # judged@10 makes no system better
    assert found["new_positives"] == labelled.judgements.filter(verdict="positive").count()
    assert sorted(line.change.system for line in found["lines"]) == ["complex", "distmult", "transe"]


def test_an_overview_says_how_sure_each_place_is(labelled: Pool):
    found = overview(labelled, "macro_mrr")
    sums = label_set(labelled, pool_table(labelled), "current").sums(RANKING)
    expected = bootstrap_places(sums, np.random.default_rng(Settings().seed))["macro_mrr"]
    assert found["sure"]["pairs"] == 3 and found["sure"]["undecided"] == expected.undecided
    names = pool_table(labelled).systems
    told = {(pair["first"], pair["second"]): pair["share"] for pair in found["sure"]["open_pairs"]}
    assert told == {(names[one], names[other]): share for one, other, share in expected.open_pairs} != {}
    assert list(told.values()) == sorted(told.values())  # the least decided first
    for line in found["lines"]:
        i = names.index(line.change.system)
        assert (line.change.low, line.change.high) == (expected.low[i], expected.high[i])


def test_tau_of_the_overview_is_that_of_the_page_correlation(labelled: Pool):
    analysis = get_analysis("correlation")
    (section,) = part_figure(labelled, analysis, analysis.parts[0], Settings()).content["sections"][:1]
    table = section["tables"][0]
    column = next(i for i, column in enumerate(table["columns"]) if column["key"] == "tau_b")
    shown = {row[0]: row[column] for row in table["rows"]}
    found = overview(labelled, "micro_mrr")
    for measure, tau in zip(found["columns"], found["taus"], strict=True):
        if tau is not None:
            cell = shown[measure.label]
            assert (cell["value"], cell["low"], cell["high"]) == (tau["tau"], tau["low"], tau["high"])


def test_one_system_and_no_answer_are_said_in_words(labelled: Pool):
    for system in list(labelled.systems.all())[1:]:
        system.run.delete()
    found = overview(labelled, "micro_mrr")
    assert len(found["lines"]) == 1 and found["sure"]["pairs"] == 0
    labelled.seeds.all().delete()
    labelled.judgements.all().delete()
    table._tables.clear()  # the seeds of a pool do not change but here
    found = overview(labelled, "micro_mrr")
    assert found["lines"] == []
    assert found["undefined"] == [
        f"{name} ({labels}): no question has an answer under these labels"
        for labels in ("seeds only", "current labels")
        for name in pool_table(labelled).systems
    ]


def test_an_overview_is_computed_once_for_all_measures(labelled: Pool, monkeypatch):
    overview(labelled, "micro_mrr")
    monkeypatch.setattr(rankings, "_compute", lambda pool: pytest.fail("it was computed again"))
    for name in RANKING:
        assert overview(labelled, name)["measure"].name == name


def test_an_overview_is_json_without_nan(labelled: Pool):
    json.dumps(rankings._compute(labelled, Settings()), allow_nan=False)


def test_shares_of_the_first_candidates_by_the_ranking(labelled: Pool, monkeypatch):
    monkeypatch.setattr(rankings, "TOP", 3)
    content = overview(labelled, "micro_mrr")["shares"]
    seeds, positives = seeds_of(labelled), positives_of(labelled)
    verdicts = dict(labelled.judgements.values_list("triple_id", "verdict"))
    pooled = {(t.head, t.relation, t.tail): t for t in labelled.triples.all()}
    questions = {q for h, r, t in positives for q in ((0, r, h), (1, r, t))}

    def kind(triple: tuple[int, int, int]) -> str:
        if triple in seeds:
            return "original"
        row = pooled.get(triple)
        if row is None:
            return "not_pooled"
        judged = {"positive": "new", "negative": "negative", "undecided": "unjudged"}
        return judged[verdicts[row.pk]] if row.pk in verdicts else "assumed_negative" if row.reason else "unjudged"

    for system in systems_with_runs(labelled):
        oracle = Oracle(labelled, system)
        kinds = [
            kind((given, relation, e) if side == 0 else (e, relation, given))
            for side, relation, given in questions
            for e in oracle.ranking((side, relation, given))[:3]
        ]
        expected = {name: kinds.count(name) / len(kinds) for name in content["systems"][system.name]}
        assert content["systems"][system.name] == pytest.approx(expected)
        assert content["positions"] == len(kinds)


def test_a_long_choice_of_systems_has_a_key_that_its_column_holds(labelled: Pool):
    for system in labelled.graph.systems.all():
        system.name += "-" * 70
        system.save()
    names = pool_table(labelled).systems
    overview(labelled, "micro_mrr", Settings(systems=tuple(names)))
    [key] = Figure.objects.filter(pool=labelled, key__startswith="overview?").values_list("key", flat=True)
    longest = Figure._meta.get_field("key").max_length
    assert len(",".join(names)) > longest >= len(key)  # PostgreSQL refuses a longer one
