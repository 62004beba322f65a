"""The page Reusability: each row equals a pool that is built again without what was left out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from statistics import mean, stdev

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata

from annotation.models import Judgement
from evaluation.labels import pool_table
from evaluation.labels.pool_table import EvaluationError
from evaluation.measures.registry import parse_measure
from evaluation.reusability.leave_out import each_system, says
from evaluation.reusability.sections import ANALYSIS, reusability_json
from evaluation.sections.metrics import metrics
from evaluation.sections.settings import Settings
from pooling.models import Pool, PooledTriple, System
from pooling.pools.build import unpack_provenance
from pooling.runs.score import score_for_pool
from pooling.systems.shown_names import shown_name
from tests.evaluation.cases import columns_of, context_of, sections_of
from tests.factories import make_system, progress_of

NAMES = ("micro_mrr", "bpref", "micro_mr")
KINDS = ["transe", "distmult", "complex"]
GROUPS = {"system": {name: [name] for name in KINDS},
          "family": {"translational": ["transe"], "decomposition": ["distmult", "complex"]}}  # fmt: skip


def found_by_only(pool: Pool, group: list[str]) -> list[PooledTriple]:
    def finders(triple: PooledTriple) -> set[str]:
        return {one.system for one in unpack_provenance(triple.provenance, pool.contributors)}

    return [triple for triple in pool.triples.all() if finders(triple) <= set(group)]


def values_of(pool: Pool) -> dict[str, np.ndarray]:
    """Of the pool as its rows are: triples are never deleted but in this test, so no version changes with it."""
    pool_table._tables.clear()
    content = metrics(pool, "current", NAMES)["systems"]
    return {name: np.array([content[system][name] for system in KINDS]) for name in NAMES}


@pytest.mark.parametrize("what", ["system", "family"])
def test_each_row_equals_the_pool_built_without_it(labelled: Pool, what: str):
    section = sections_of(ANALYSIS, context_of(labelled, measures=NAMES))[f"leave-{what}"]
    assert [table.title for table in section.tables] == [
        f"{parse_measure(name).label} with each {what} left out" for name in NAMES
    ]
    before = values_of(labelled)
    tables = dict(zip(NAMES, map(columns_of, section.tables), strict=True))
    moved = 0
    for left_out, group in GROUPS[what].items():
        gone = found_by_only(labelled, group)
        judgements = list(Judgement.objects.filter(triple__in=gone))
        positives = sum(one.verdict == "positive" for one in judgements)
        judged = {one.triple_id for one in judgements if one.verdict != "undecided"}
        filtered = sum(bool(t.reason) and t.pk not in {j.triple_id for j in judgements} for t in gone)
        Judgement.objects.filter(triple__in=gone).delete()
        PooledTriple.objects.filter(pk__in=[triple.pk for triple in gone]).delete()
        after = values_of(labelled)
        PooledTriple.objects.bulk_create(gone)
        Judgement.objects.bulk_create(judgements)
        for name in NAMES:
            columns, sign = tables[name], 1 if name == "micro_mr" else -1
            assert columns["triples"][left_out] == len(gone) > 0
            assert columns["positives"][left_out] == positives
            assert columns["judged"][left_out] == len(judged) + filtered
            tau = kendalltau(before[name], after[name]).statistic
            assert columns["tau"][left_out] == pytest.approx(tau, abs=1e-9)
            places = [rankdata(sign * values[name], "min").astype(int) for values in (before, after)]
            own = [KINDS.index(system) for system in group]
            _own(columns, left_out, what, own, places, after[name] - before[name])
            _other(columns, left_out, own, places)
            moved += int((places[0] != places[1]).any())
    assert moved  # else this shows nothing
    assert values_of(labelled)["bpref"].tolist() == before["bpref"].tolist()


def _own(columns, left_out: str, what: str, own: list[int], places, change: np.ndarray) -> None:
    assert columns["change"][left_out] == pytest.approx(change[own].mean(), abs=1e-12)
    if what == "system":
        assert (columns["place"][left_out], columns["place_without"][left_out]) == (
            places[0][own[0]],
            places[1][own[0]],
        )
    else:
        moves = ", ".join(f"{KINDS[i]} {places[0][i]} → {places[1][i]}" for i in own)
        assert columns["places"][left_out] == moves


def _other(columns, left_out: str, own: list[int], places) -> None:
    others = [i for i in range(3) if i not in own]
    shift = max(abs(places[0][i] - places[1][i]) for i in others)
    if shift == 0:
        assert (columns["other"][left_out], columns["other_places"][left_out]) == ("none moves", "")
    else:
        first = next(i for i in others if abs(places[0][i] - places[1][i]) == shift)
        assert columns["other"][left_out] == KINDS[first]
        assert columns["other_places"][left_out] == f"{places[0][first]} → {places[1][first]}"


def test_questions_and_filters_are_those_of_the_settings(labelled: Pool):
    """Tau of an answer-only and of another measure, on the questions of the seeds, with filtered ones unjudged."""
    context = context_of(labelled, measures=("bpref",), questions="original", assumed="unjudged")
    columns = columns_of(sections_of(ANALYSIS, context)["leave-system"].tables[0])
    expected = context.labels.values(["bpref"], False)["bpref"].mean()
    assert list(columns["value"].values()) == pytest.approx(expected.tolist(), abs=1e-12)


def test_chosen_systems_alone_are_left_out_from_among_all_contributors(labelled: Pool):
    context = context_of(labelled, measures=NAMES, systems=("transe", "complex"))
    sections = sections_of(ANALYSIS, context)
    chosen = columns_of(sections["leave-system"].tables[0])
    every = columns_of(sections_of(ANALYSIS, context_of(labelled, measures=NAMES))["leave-system"].tables[0])
    for column in ("triples", "judged", "positives"):  # what distmult found too is not only theirs
        assert chosen[column] == {name: every[column][name] for name in ("transe", "complex")}
    assert set(columns_of(sections["leave-family"].tables[0])["triples"]) == {"translational", "decomposition"}
    assert sections["leave-system"].caption.endswith(" Only the chosen systems are left out.")
    alone = reusability_json(labelled, Settings(measures=NAMES, systems=("distmult", "complex")))["without"]
    assert (list(alone["system"]), list(alone["family"])) == (["distmult", "complex"], ["decomposition"])


def test_finding_names_who_moves_most(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled, measures=("micro_mrr",)))
    columns = columns_of(sections["leave-system"].tables[0])
    shift = {name: abs(columns["place"][name] - columns["place_without"][name]) for name in KINDS}
    most = max(KINDS, key=lambda name: shift[name])
    least = f"{min(columns['tau'].values()):.2f}".replace("-", "−")
    assert sections["leave-system"].finding == (
        f"By Micro MRR {shown_name(most)} moves most when it is left out, from place {columns['place'][most]:.0f} to"
        f" {columns['place_without'][most]:.0f}; tau is at least {least}."
    )


def test_finding_says_tau_once_where_it_is_always_the_same(labelled: Pool):
    context = context_of(labelled, measures=("micro_mrr",))
    _, left, _ = each_system(context)
    same = replace(left.by_measure["micro_mrr"], tau=np.array([1.0, 1.0, np.nan]))
    said = says(context, replace(left, by_measure={"micro_mrr": same}), "system")
    assert said.rpartition("; ")[2] == "tau is 1.00 each time."


def test_a_system_beside_the_pool_can_be_added(labelled: Pool):
    score_for_pool(make_system(labelled.graph, "rotate"), labelled, progress_of(labelled))
    section = sections_of(ANALYSIS, context_of(labelled))["judged"]
    columns = columns_of(section.tables[0])
    assert list(columns["verdict"].values()) == ["yes", "yes", "yes", "not comparable"]
    missing = columns["to_people"]["rotate"] + columns["waiting"]["rotate"]
    assert columns["missing"]["rotate"] == missing
    assert section.finding == f"Not comparable: RotatE ({missing} triples to judge)."
    (action,) = section.actions
    assert (action.route, action.fields) == ("reusability-extend", {"system": "rotate"})
    assert action.label == f"Add the {columns['outside']['rotate']} missing triples of rotate to the pool"
    low = sections_of(ANALYSIS, context_of(labelled, share=columns["judged_5"]["rotate"]))["judged"]
    assert columns_of(low.tables[0])["verdict"]["rotate"] == "yes"
    assert low.finding == "Every system is comparable."


def test_a_frozen_pool_takes_nothing_more(labelled: Pool):
    score_for_pool(make_system(labelled.graph, "rotate"), labelled, progress_of(labelled))
    labelled.frozen_at = datetime(2026, 3, 2, tzinfo=UTC)
    section = sections_of(ANALYSIS, context_of(labelled))["judged"]
    assert section.actions == []
    assert section.notes == ["The pool was frozen on 2026-03-02: it takes no more triples."]


def test_every_system_in_the_pool_needs_nothing(labelled: Pool):
    section = sections_of(ANALYSIS, context_of(labelled))["judged"]
    assert (section.finding, section.actions) == ("Every system is in the pool.", [])
    assert "actions" not in section.content()


def test_the_full_test_set_was_not_pooled(labelled: Pool):
    for part in ANALYSIS.parts:
        with pytest.raises(EvaluationError, match="was not pooled"):
            part.compute(context_of(labelled, labels="full-test"))


def test_without_provenance_the_page_says_how_it_knows(labelled: Pool):
    by_provenance = sections_of(ANALYSIS, context_of(labelled, measures=NAMES))["leave-system"]
    assert "known from its provenance" in by_provenance.caption
    labelled.triples.update(provenance=b"")
    found = sections_of(ANALYSIS, context_of(labelled, measures=NAMES))["leave-system"]
    assert "The pool has no provenance" in found.caption
    assert found.tables == by_provenance.tables


def test_json_has_the_figures_of_the_page(labelled: Pool):
    settings = Settings(measures=NAMES)
    found = reusability_json(labelled, settings)
    sections = sections_of(ANALYSIS, context_of(labelled, measures=NAMES))
    assert (found["found_by"], found["measures"]) == ("provenance", list(NAMES))
    assert found["says"] == [section.finding for section in sections.values()]
    for what, groups in GROUPS.items():
        for name, shown in zip(NAMES, sections[f"leave-{what}"].tables, strict=True):
            columns = columns_of(shown)
            rows = found["without"][what]
            assert list(rows) == list(groups)
            for left_out, row in rows.items():
                one = row["measures"][name]
                assert (row["triples"], one["tau"]) == (columns["triples"][left_out], columns["tau"][left_out])
                assert list(one["own"]) == list(one["change"]) == groups[left_out]
                if what == "system":
                    own = [columns["place"][left_out], columns["place_without"][left_out]]
                    assert one["own"][left_out] == own
    judged = columns_of(sections["judged"].tables[0])
    assert {name: row["at"]["10"] for name, row in found["judged"].items()} == judged["judged_10"]


# -- families of seeds --------------------------------------------------------------------------------------------

SEEDS = ["transe", "transe-s1", "transe-s2"]
CHOSEN = ["transe-s1", "distmult", "complex"]


def folded_values(pool: Pool) -> dict[str, list[float]]:
    pool_table._tables.clear()
    content = metrics(pool, "current", NAMES)["systems"]
    return {name: [content[system][name] for system in CHOSEN] for name in NAMES}


def test_a_family_of_seeds_is_left_out_as_one_system(with_seeds: Pool):
    context = ANALYSIS.context(with_seeds, Settings(measures=NAMES))
    section = sections_of(ANALYSIS, context)["leave-system"]
    before, tables = folded_values(with_seeds), dict(zip(NAMES, map(columns_of, section.tables), strict=True))
    assert section.tables[0].rows[0][0] == "transe-s1" and len(section.tables[0].rows) == 3
    for left_out, group in (("transe-s1", SEEDS), ("distmult", ["distmult"])):
        gone = found_by_only(with_seeds, group)
        judgements = list(Judgement.objects.filter(triple__in=gone))
        Judgement.objects.filter(triple__in=gone).delete()
        PooledTriple.objects.filter(pk__in=[triple.pk for triple in gone]).delete()
        after = folded_values(with_seeds)
        PooledTriple.objects.bulk_create(gone)
        Judgement.objects.bulk_create(judgements)
        own = CHOSEN.index(left_out)
        for name in NAMES:
            columns, sign = tables[name], 1 if name == "micro_mr" else -1
            assert columns["triples"][left_out] == len(gone) > 0
            tau = kendalltau(before[name], after[name]).statistic  # of three systems
            assert columns["tau"][left_out] == pytest.approx(tau, abs=1e-9)
            places = [rankdata(sign * np.array(values), "min")[own] for values in (before[name], after[name])]
            assert [columns[key][left_out] for key in ("place", "place_without")] == places
            assert columns["change"][left_out] == pytest.approx(after[name][own] - before[name][own], abs=1e-12)
    assert len(found_by_only(with_seeds, ["transe-s1"])) < len(
        found_by_only(with_seeds, SEEDS)
    )  # else nothing is shown


@pytest.mark.parametrize("has_provenance", [True, False])
def test_a_chosen_seed_that_was_not_pooled_stands_for_the_one_that_was(labelled: Pool, has_provenance: bool):
    seed = make_system(labelled.graph, "transe", seed=1)
    score_for_pool(seed, labelled, progress_of(labelled))
    System.objects.filter(pk=seed.pk).update(validation_mrr=0.9)
    if not has_provenance:
        labelled.triples.update(provenance=b"")
    sections = sections_of(ANALYSIS, ANALYSIS.context(labelled, Settings(measures=("micro_mrr",))))
    leave = columns_of(sections["leave-system"].tables[0])
    assert list(leave["triples"]) == CHOSEN
    if has_provenance:
        assert leave["triples"]["transe-s1"] == len(found_by_only(labelled, ["transe"])) > 0
    assert {leave["place"][name] for name in CHOSEN} == {1, 2, 3}
    judged = columns_of(sections["judged"].tables[0])
    assert judged["pooled"] == {"transe-s1": "no", "distmult": "yes", "complex": "yes"}
    (action,) = sections["judged"].actions
    assert action.fields == {"system": "transe-s1"}


def test_judged_shares_have_mean_and_deviation_over_seeds(with_seeds: Pool):
    with_seeds.triples.filter(judgement__verdict="negative").first().judgement.delete()
    each = columns_of(sections_of(ANALYSIS, context_of(with_seeds))["judged"].tables[0])
    table = sections_of(ANALYSIS, ANALYSIS.context(with_seeds, Settings()))["judged"].tables[0]
    assert [row[0] for row in table.rows] == CHOSEN
    keys = ["judged_5", "possible_5", "judged_10", "possible_10"]
    differ = 0
    for column, key in zip(table.columns[2:6], keys, strict=True):
        assert column.key == key
        values = [each[key][seed] for seed in SEEDS]
        own = table.rows[0][2 + keys.index(key)]
        assert own["value"] == values[1] and own["n"] == 3
        assert (own["mean"], own["sd"]) == (pytest.approx(mean(values)), pytest.approx(stdev(values), abs=1e-12))
        differ += len(set(values)) > 1
    assert differ
    assert not any(isinstance(value, dict) for row in table.rows[1:] for value in row)


def test_scripts_are_told_which_seeds_a_system_stands_for(with_seeds: Pool):
    found = reusability_json(with_seeds, Settings(measures=NAMES))
    assert list(found["judged"]) == list(found["without"]["system"]) == CHOSEN
    assert "transe-s1 of 3 (transe-s1, transe, transe-s2)" in found["says"][-1]
