from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evaluation.labels import pool_table as table
from evaluation.labels.pool_table import pool_table
from pooling.graphs.opening import open_graph
from pooling.models import Pool, PooledTriple, Run
from pooling.pools.build import import_pool, unpack_provenance
from pooling.pools.to_judge import order_pool, pool_ranks
from pooling.runs import files as run_files
from pooling.runs.files import RankRows
from pooling.runs.score import TOP_K, score_for_pool
from pooling.scoring.rank_rows import row_keys, rows_of
from tests.factories import names_of, progress_of


@pytest.fixture(autouse=True)
def _nothing_in_memory():
    """Row ids come back in every test: what was read for the last one must not be taken for this one's."""
    run_files._cache.clear()
    table._tables.clear()


def to_people(pool: Pool) -> list[PooledTriple]:
    return list(pool.triples.filter(reason="").order_by("id"))


def written(pool: Pool, path: Path, provenance: bool) -> tuple[Path, Path]:
    """The pool as a file with its seeds, with or without who found what."""
    lines = []
    for triple in pool.triples.order_by("id"):
        fields = [*names_of(pool.graph, (triple.head, triple.relation, triple.tail)), str(triple.depth)]
        if provenance:
            found = unpack_provenance(triple.provenance, pool.contributors)
            fields.append(";".join(f"{system}:{side}:{rank}" for system, side, rank in found))
        lines.append("\t".join(fields))
    seeds = ["\t".join(names_of(pool.graph, row)) for row in pool.seeds.values_list("head", "relation", "tail")]
    path.mkdir()
    files = path / "pool.tsv", path / "seeds.tsv"
    for file, rows in zip(files, (lines, seeds), strict=True):
        file.write_text("\n".join(rows), encoding="utf-8")
    return files


def imported(pool: Pool, path: Path, provenance: bool) -> Pool:
    file, seeds = written(pool, path, provenance)
    return import_pool(pool.graph, name="elsewhere", file=file, seeds_file=seeds)


def test_ranks_are_the_smallest_of_the_provenance(pool):
    stock = order_pool(pool)
    triples = to_people(pool)
    assert stock.triple_id.tolist() == [t.pk for t in triples]
    assert stock.runs == pool.contributors
    assert stock.pool.depth.tolist() == [t.depth for t in triples]
    expected = [
        [
            min((f.rank for f in unpack_provenance(t.provenance, stock.runs) if f.system == run), default=0)
            for t in triples
        ]
        for run in stock.runs
    ]
    assert stock.pool.ranks.tolist() == expected
    assert {0} < set(stock.pool.ranks.ravel().tolist())


def test_group_is_the_question_of_the_side_that_found_it_at_the_best_rank(pool):
    stock = order_pool(pool)
    questions = []
    for t in to_people(pool):
        found = unpack_provenance(t.provenance, pool.contributors)
        side = min(found, key=lambda f: (f.rank, f.side == "head")).side
        questions.append((side, t.relation, t.tail if side == "head" else t.head))
    same = [[a == b for b in questions] for a in questions]
    assert (stock.pool.group[:, None] == stock.pool.group[None, :]).tolist() == same
    assert 1 < len(set(questions)) < len(questions)


def test_an_imported_pool_with_provenance_uses_it(pool, tmp_path):
    other = imported(pool, tmp_path / "files", provenance=True)
    ours, theirs = order_pool(pool), order_pool(other)
    by_name = {name: theirs.pool.ranks[i].tolist() for i, name in enumerate(theirs.runs)}
    assert by_name == {name: ours.pool.ranks[i].tolist() for i, name in enumerate(ours.runs)}


@pytest.fixture
def elsewhere(pool: Pool, tmp_path: Path) -> Pool:
    """The same triples without provenance, scored by the systems of the graph."""
    other = imported(pool, tmp_path / "files", provenance=False)
    for run in Run.objects.all():
        score_for_pool(run.system, other, progress_of(other))
    return other


def test_without_provenance_ranks_are_those_that_the_evaluation_uses(elsewhere):
    stock = order_pool(elsewhere)
    held = pool_table(elsewhere)
    ranks = held.pool.table  # positions among the candidates: test answers that are no seeds are gone
    assert stock.runs == held.systems == ["transe", "distmult", "complex"]
    for i, pk in enumerate(stock.triple_id.tolist()):
        rows = ranks.strict[:, ranks.triple == held.position_of[pk]]
        best = np.where((rows > 0) & (rows <= TOP_K), rows, 10**6).min(axis=1)
        assert stock.pool.ranks[:, i].tolist() == np.where(best < 10**6, best, 0).tolist()
    whole = held.ranks.strict[:, np.isin(held.ranks.triple, [held.position_of[pk] for pk in stock.triple_id])]
    known = ranks.strict[:, np.isin(ranks.triple, [held.position_of[pk] for pk in stock.triple_id])]
    assert (whole != known).any()  # else nothing was taken away


def test_without_provenance_ranks_end_at_the_depth_of_runs(elsewhere, monkeypatch):
    before = order_pool(elsewhere).pool.ranks
    monkeypatch.setattr("pooling.pools.to_judge.TOP_K", 2)
    after = order_pool(elsewhere).pool.ranks
    assert before.max() > 2
    assert after.tolist() == np.where(before <= 2, before, 0).tolist()


def test_a_system_without_the_rank_rows_is_left_out(pool, tmp_path):
    other = imported(pool, tmp_path / "files", provenance=False)
    triple = PooledTriple.objects.filter(pool=other).first()
    arrays = open_graph(pool.graph)
    known = {tuple(t) for t in np.concatenate([arrays.train, arrays.valid, arrays.test]).tolist()}
    known |= set(other.triples.values_list("head", "relation", "tail"))
    new = next(  # a triple that nobody has scored
        (h, triple.relation, t)
        for h in range(arrays.num_entities)
        for t in range(arrays.num_entities)
        if (h, triple.relation, t) not in known
    )
    PooledTriple.objects.create(pool=other, head=new[0], relation=new[1], tail=new[2], depth=1)
    first = Run.objects.order_by("id").first()
    score_for_pool(first.system, other, progress_of(other))
    stock = order_pool(other)
    assert stock.runs == [first.system.name]
    assert stock.pool.ranks.shape == (1, len(to_people(other)))


def test_a_pool_that_no_system_has_scored_has_no_ranks(pool, tmp_path):
    other = imported(pool, tmp_path / "files", provenance=False)
    Run.objects.all().delete()
    stock = order_pool(other)
    assert (stock.runs, stock.pool.ranks.shape) == ([], (0, len(to_people(other))))


def test_only_known_answers_that_a_run_returned_stand_above_others():
    asked, known = rows_of(np.array([[0, 0, 1], [0, 0, 2]])), rows_of(np.array([[0, 0, 5], [0, 0, 6]]))
    both = [row_keys(rows, 10, 2) for rows in (asked, known)]
    # (0, 0, ?): entity 1 at position 4, 2 not returned, 5 at 2, 6 not returned; nothing of the head questions
    strict = np.array([4, 0, 0, 0, 2, 0, 0, 0], np.int32)
    keys = np.concatenate(both)
    order = np.argsort(keys)
    run = RankRows(keys[order], np.stack([strict[order]] * 3))
    graph = SimpleNamespace(num_entities=10, num_relations=2)
    assert pool_ranks(run, asked, known, graph).tolist() == [3, 0, 0, 0]
    assert pool_ranks(RankRows(run.keys[1:], run.ranks[:, 1:]), asked, known, graph) is None
