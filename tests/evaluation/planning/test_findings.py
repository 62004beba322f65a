"""Who found what and how much of it is judged, triple by triple."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from annotation.enums import Verdict
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table
from evaluation.planning.findings import (
    NO_FAMILY,
    Findings,
    Judged,
    contributors_here,
    findings,
    judged_limits,
    judged_of,
    not_comparable,
    own_places,
    reuse_version,
)
from pooling.graphs.imports import import_graph
from pooling.graphs.tsv import read_tsv
from pooling.models import Pool, System
from pooling.pools.build import import_pool, unpack_provenance
from pooling.pools.growth import extend_pool, grow
from pooling.pools.seeds import seed_array
from pooling.runs.files import question_id
from pooling.runs.imports import import_run
from pooling.runs.score import score_for_pool
from tests.evaluation.oracle import Oracle, Question, Triple, sides
from tests.factories import judge, make_system, progress_of

KINDS = ["transe", "distmult", "complex"]


@pytest.fixture
def beside(labelled: Pool) -> System:
    """A system that was not pooled; its rank rows are complete."""
    system = make_system(labelled.graph, "rotate")
    score_for_pool(system, labelled, progress_of(labelled))
    return system


def triples_of(pool: Pool) -> list[Triple]:
    return list(pool.triples.values_list("head", "relation", "tail"))


def test_findings_are_those_of_the_provenance(labelled: Pool):
    table = pool_table(labelled)
    found = findings(labelled, table)
    assert (found.names, found.by_ranks) == (KINDS, False)
    expected = {
        pk: {one.system for one in unpack_provenance(packed, labelled.contributors)}
        for pk, packed in labelled.triples.values_list("pk", "provenance")
    }
    for place, pk in enumerate(table.pooled_id.tolist()):
        names = {name for name, own in zip(KINDS, found.found[place], strict=True) if own}
        assert names == expected.get(pk, set())


def test_without_provenance_findings_are_what_runs_return_today(labelled: Pool):
    by_provenance = findings(labelled, pool_table(labelled))
    labelled.triples.update(provenance=b"")
    found = findings(labelled, pool_table(labelled))
    assert (found.names, found.by_ranks) == (KINDS, True)
    assert (found.found == by_provenance.found).all()


def test_findings_of_a_family_of_seeds_are_those_of_any_seed():
    found = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=bool)
    folded = Findings(["a", "b", "a-s1", "gone"], found, by_ranks=False).folded({"a": "a-s1", "a-s1": "a-s1", "b": "b"})
    assert folded.names == ["a-s1", "b", "gone"]
    assert folded.found.astype(int).tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]]


def test_families_are_told_where_there_are_two(labelled: Pool):
    found = findings(labelled, pool_table(labelled))
    families = {family: own.tolist() for family, own in found.families(labelled).items()}
    assert families == {"translational": [True, False, False], "decomposition": [False, True, True]}
    System.objects.all().update(kind="elsewhere")
    assert found.families(labelled) == {}
    System.objects.filter(name="transe").update(kind="transe")
    assert list(found.families(labelled)) == ["translational", NO_FAMILY]


def test_family_of_an_imported_system_is_the_one_it_was_given(labelled: Pool):
    System.objects.filter(name="complex").update(kind="imported", settings={"family": "rules"})
    families = findings(labelled, pool_table(labelled)).families(labelled)
    assert {family: own.tolist() for family, own in families.items()} == {
        "translational": [True, False, False],
        "decomposition": [False, True, False],
        "rules": [False, False, True],
    }


def test_contributors_are_here_if_the_pool_was_built_by_them(labelled: Pool, beside: System):
    assert contributors_here(labelled) == set(KINDS)
    labelled.systems.clear()  # as of a pool from a file: a system of this name need not be that one
    assert contributors_here(labelled) == set()
    group = [True, False, True]
    places = own_places(["complex", "rotate", "transe"], KINDS, np.array(group), {"transe", "rotate"})
    assert places.tolist() == [2]


def test_judged_share_is_counted_place_by_place(labelled: Pool, beside: System):
    table = pool_table(labelled)
    verdicts = dict(labelled.judgements.values_list("triple_id", "verdict"))
    state = {
        triple: verdicts.get(pk, "" if reason == "" else "assumed")
        for pk, reason, *triple in labelled.triples.values_list("pk", "reason", "head", "relation", "tail")
        for triple in [tuple(triple)]
    }
    seeds = set(labelled.seeds.values_list("head", "relation", "tail"))
    for assumed in (True, False):
        judged = {"positive", "negative"} | ({"assumed"} if assumed else set())
        chosen = label_set(labelled, table, "current", "original")
        rows = {row.system: row for row in judged_of(labelled, table, chosen, assumed)}
        assert list(rows) == [*KINDS, "rotate"]
        for name, row in rows.items():
            oracle = Oracle(labelled, System.objects.get(name=name))
            questions = {question for triple in seeds for question, _ in sides(triple)}
            for k, share in row.shares.items():
                assert share == pytest.approx(_share(oracle, questions, state, seeds, judged, k), abs=1e-12)
            first = {t for q in questions for t in _first(oracle, q, seeds, labelled.depth)}
            assert row.outside == len(first - state.keys())
            assert row.waiting == sum(state.get(triple) == "" for triple in first)
            assert (row.is_pooled, row.k, sorted(row.shares)) == (name in KINDS, 5, [5, 10])
    assert rows["rotate"].outside > 0 < rows["rotate"].waiting


def _triple(question: Question, entity: int) -> Triple:
    side, relation, given = question
    return (given, relation, entity) if side == 0 else (entity, relation, given)


def _share(
    oracle: Oracle, questions: set[Question], state: dict, seeds: set[Triple], judged: set[str], k: int
) -> float:
    shares = []
    for question in questions:
        top = [_triple(question, entity) for entity in oracle.ranking(question)[:k]]
        shares.append(sum(t in seeds or state.get(t) in judged for t in top) / len(top))
    return sum(shares) / len(shares)


def _first(oracle: Oracle, question: Question, seeds: set[Triple], depth: int) -> list[Triple]:
    """What the pool takes of a question: its first candidates that are no seed."""
    found = [_triple(question, entity) for entity in oracle.ranking(question)]
    return [triple for triple in found if triple not in seeds][:depth]


def test_what_is_missing_is_what_an_extension_adds(labelled: Pool, beside: System):
    table = pool_table(labelled)
    before = judged_of(labelled, table, label_set(labelled, table, "current", "original"), True)[3]
    assert before.missing == before.to_people + before.waiting > 0
    job = extend_pool(labelled, systems=["rotate"])
    grow(labelled, job.params, progress_of(labelled))
    labelled.refresh_from_db()
    entry = labelled.growth[-1]
    assert (entry["triples"], entry["to_people"]) == (before.outside, before.to_people)
    for triple in labelled.triples.filter(reason="", judgement=None):
        judge(triple, Verdict.NEGATIVE)
    table = pool_table(labelled)
    after = judged_of(labelled, table, label_set(labelled, table, "current", "original"), True)[3]
    assert (after.is_pooled, after.outside, after.missing) == (True, 0, 0)


def test_comparable_is_who_was_pooled_or_is_judged_enough(labelled: Pool, beside: System):
    assert set(not_comparable(labelled)) == {"rotate"}
    table = pool_table(labelled)
    rows = judged_of(labelled, table, label_set(labelled, table, "current", "original"), True)
    share = rows[3].shares[5]
    assert share is not None and share < 0.9
    assert not_comparable(labelled)["rotate"] == {
        "judged": share,
        "of_possible": rows[3].of_possible(5),
        "k": 5,
        "missing": rows[3].missing,
    }
    share = rows[3].of_possible(5)
    assert share is not None
    assert rows[3].is_comparable(share) and not rows[3].is_comparable(share + 1e-9)
    assert rows[0].is_comparable(1.0)  # pooled, whatever is judged


def test_a_pool_without_runs_says_nothing_of_comparability(labelled: Pool):
    for system in labelled.systems.all():
        system.run.delete()
    assert not_comparable(labelled) == {}


def test_version_changes_with_what_the_pool_is(labelled: Pool):
    before = reuse_version(labelled)
    assert reuse_version(Pool.objects.get(pk=labelled.pk)) == before
    labelled.contributors = [*labelled.contributors, "rotate"]
    assert reuse_version(labelled) != before


# -- what the pool could hold --


def test_the_limit_is_what_the_pool_holds_of_the_first_k(labelled: Pool):
    """By loops: of each question min(k, seeds and pooled triples that answer it) / min(k, candidates)."""
    labelled.triples.filter(judgement=None).delete()
    table = pool_table(labelled)
    chosen = label_set(labelled, table, "current", "original")
    graph, seeds = table.graph, seed_array(labelled).tolist()
    held: dict[Question, set[int]] = {}
    for h, r, t in [*seeds, *triples_of(labelled)]:
        held.setdefault((0, h, r), set()).add(t)
        held.setdefault((1, t, r), set()).add(h)
    asked = {q for h, r, t in seeds for q in ((0, h, r), (1, t, r))}
    known: dict[Question, set[int]] = {}
    unsampled = [triple for triple in graph.test.tolist() if triple not in seeds]
    for h, r, t in [*graph.train.tolist(), *graph.valid.tolist(), *unsampled]:
        known.setdefault((0, h, r), set()).add(t)
        known.setdefault((1, t, r), set()).add(h)
    for k in (5, 10):
        most = {q: min(k, graph.num_entities - len(known.get(q, ()))) for q in asked}
        expected = sum(min(len(held[q]), most[q]) / most[q] for q in asked) / len(asked)
        for row in judged_of(labelled, table, chosen, True):
            assert row.limits[k] == pytest.approx(expected, abs=1e-12) != 1
            assert row.of_possible(k) == pytest.approx(row.shares[k] / expected, abs=1e-12)


def test_a_system_is_comparable_by_its_share_of_what_the_pool_could_hold():
    row = Judged("x", False, 10, {10: 0.7}, {10: 0.771})
    assert row.is_comparable(0.9) and not row.is_comparable(0.91)
    assert not Judged("x", False, 10, {10: 0.7}, {10: 1.0}).is_comparable(0.9)
    assert Judged("x", False, 10, {10: None}, {10: None}).of_possible(10) is None


@pytest.mark.data
def test_no_system_can_exceed_0_771_on_the_published_pool(db, tmp_path):
    data = Path(settings.DATA_ROOT)
    folder = data / "fb-test-s"
    graph = import_graph("fb15k-237", read_tsv(data / "fb15k-237"), options={})
    files = {"file": folder / "pool.tsv.gz", "seeds_file": folder / "seed_triples.tsv"}
    pool = import_pool(graph, name="fb-test-s", filters=["category-head", "category-tail"], **files)
    head, relation, tail = (folder / "seed_triples.tsv").read_text().splitlines()[0].split("\t")
    (tmp_path / "run").write_text(f"{question_id(0, head, relation)} Q0 {tail} 1 1 x\n")
    import_run(graph, tmp_path / "run", name="x", pool=pool)  # a pool table needs the rank rows of one system
    table = pool_table(pool)
    limits = judged_limits(pool, table, label_set(pool, table, "current", "original"))
    assert limits[10] is not None and round(limits[10], 3) == 0.771
