"""Raw pools: the first k of the full lists, known answers dropped afterwards; against brute force, with ties."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from core.files.artifacts import artifact_path
from core.jobs.execution import execute
from core.models import Job
from evaluation.planning.findings import candidates_of
from pooling.errors import PoolError
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, Run, System
from pooling.pools.build import build_pool, create_pool, unpack_provenance
from pooling.pools.growth import extend_pool
from pooling.pools.raw import lacking_raw
from pooling.pools.seeds import seed_array
from pooling.questions.kernel import distinct_questions
from pooling.runs.files import question_id, read_topk
from pooling.runs.imports import import_run
from pooling.runs.trec_write import trec_word
from pooling.scoring.rank_rows import question_keys
from tests.factories import make_pool, progress_of
from tests.pooling.pools.raw_cases import TiedScores, full_list, known_answers, make_old, write_lists

Found = dict[tuple[int, int, int], set[tuple[str, str, int]]]


def literal(pool: Pool, tied: dict[str, TiedScores], rule: str) -> Found:
    """Brute force: of each list the first k that remain (filtered), or what remains of the first k (raw)."""
    known, found = known_answers(pool.graph), {}
    for side, given, relation in zip(*(x.tolist() for x in distinct_questions(seed_array(pool))), strict=True):
        for name, scores in tied.items():
            ranked, taken = full_list(scores, (side, relation, given)), known[side, relation, given]
            new = [entity for entity in ranked if entity not in taken]
            if rule == "raw":
                firsts = [(rank, e) for rank, e in enumerate(ranked[: pool.depth], 1) if e in new]
            else:
                firsts = list(enumerate(new[: pool.depth], 1))
            for rank, entity in firsts:
                triple = (entity, relation, given) if side else (given, relation, entity)
                found.setdefault(triple, set()).add((name, ("tail", "head")[side], rank))
    return found


def stored(pool: Pool) -> Found:
    rows = pool.triples.values_list("head", "relation", "tail", "provenance")
    return {(h, r, t): {tuple(f) for f in unpack_provenance(packed, pool.contributors)} for h, r, t, packed in rows}


@pytest.mark.parametrize("depth", [1, 5, 40])
@pytest.mark.parametrize("rule", ["filtered", "raw"])
def test_a_pool_is_what_brute_force_gives_by_its_rule(trained: Graph, tied, rule: str, depth: int):
    pool = make_pool(trained, rule=rule, depth=depth)
    expected = literal(pool, tied, rule)
    assert stored(pool) == expected
    depths = {(t.head, t.relation, t.tail): t.depth for t in pool.triples.all()}
    assert depths == {triple: min(rank for *_, rank in by) for triple, by in expected.items()}
    assert pool.rule == rule


def test_raw_takes_no_more_than_filtered_and_less_where_answers_are_known(trained: Graph, tied):
    raw, filtered = (make_pool(trained, name=rule, rule=rule) for rule in ("raw", "filtered"))
    assert set(stored(raw)) < set(stored(filtered))


def test_chunks_of_entities_give_the_same_raw_pool(trained: Graph, tied, monkeypatch):
    whole = stored(make_pool(trained, rule="raw"))
    Run.objects.all().delete()
    monkeypatch.setattr("pooling.scoring.ranking.TILE", 5)
    monkeypatch.setattr("pooling.scoring.ranking.BUFFER_FLOATS", 1)
    assert stored(make_pool(trained, name="chunked", rule="raw")) == whole


# -- runs without raw positions -------------------------------------------------------------------------------


def test_an_old_run_is_refused_with_its_count_until_it_is_scored_again(trained: Graph, tied):
    expected = stored(make_pool(trained, name="fresh", rule="raw"))
    run = Run.objects.get(system__name="transe")
    lists = read_topk(run)
    make_old(run)
    asked = {"name": "raw", "sample": 0.5, "seed": 5, "depth": 5, "rule": "raw"}
    with pytest.raises(PoolError, match=r"transe lacks it for 26 of 27 questions.*--score-again") as refused:
        create_pool(trained, **asked)
    assert "distmult" not in str(refused.value) and Pool.objects.count() == 1
    create_pool(trained, **asked | {"name": "f", "rule": "filtered"})  # which needs no raw position
    pool = create_pool(trained, **asked, score_again=True)
    build_pool(pool, progress_of(pool))
    assert stored(pool) == expected
    again = Run.objects.get(system__name="transe")
    found, mine = read_topk(again), question_keys(distinct_questions(seed_array(pool)), *open_graph(trained).shape)
    assert [c.tolist() for c in found[:3]] == [c.tolist() for c in lists[:3]]
    assert np.array_equal(found.raw, np.where(np.isin(found.keys, mine)[:, None], lists.raw, 0))
    assert again.num_questions == run.num_questions == len(lists.keys)
    assert pq.read_metadata(artifact_path(again.artifact) / "topk.parquet").num_rows == (lists.entity >= 0).sum()


def test_only_the_questions_of_the_seeds_are_counted(trained: Graph, tied):
    make_pool(trained, name="many", systems=["transe"])
    run = Run.objects.get()
    make_old(run)
    graph = open_graph(trained)
    seeds = graph.test[:3]
    held = len(read_topk(Run.objects.get()).keys)
    assert lacking_raw([run.system], seeds, graph) == {run.system: len(distinct_questions(seeds).side)}
    assert held > len(distinct_questions(seeds).side)
    pool = create_pool(trained, name="r", count=2, systems=["transe"], rule="raw", depth=5, score_again=True)
    build_pool(pool, progress_of(pool))
    assert lacking_raw([run.system], seed_array(pool), graph) == {}
    assert len(read_topk(Run.objects.get()).lacks_raw) < held


# -- imported runs ----------------------------------------------------------------------------------------------


def test_an_imported_run_that_keeps_known_answers_gives_the_raw_pool_of_its_system(trained: Graph, tied, tmp_path):
    own = make_pool(trained, systems=["transe"], rule="raw")
    path = write_lists(tmp_path / "run", own, tied["transe"], full=True, first=8)
    imported = import_run(trained, path, name="theirs")
    assert "rule raw can use it" in imported.notes[-1]
    pool = make_pool(trained, name="q", systems=["theirs"], rule="raw")
    expected = {triple: {("theirs", side, rank) for _, side, rank in by} for triple, by in stored(own).items()}
    assert stored(pool) == expected


def test_an_imported_run_without_known_answers_is_refused_with_its_count(trained: Graph, tied, tmp_path):
    own = make_pool(trained, systems=["transe"])
    path = write_lists(tmp_path / "run", own, tied["transe"], full=False)
    imported = import_run(trained, path, name="theirs")
    (count,) = lacking_raw([imported.system], seed_array(own), open_graph(trained)).values()
    asked = len(distinct_questions(seed_array(own)).side)
    assert 0 < count <= asked  # every question of a seed has an answer: the seed
    with pytest.raises(PoolError, match=f"theirs lacks it for {count} of {asked} questions: the imported file"):
        create_pool(trained, name="r", sample=0.5, seed=5, systems=["theirs"], rule="raw", score_again=True)
    assert "raw cannot use it" in imported.notes[-1]


def test_a_list_with_every_answer_to_its_question_is_full_whatever_the_rest_of_the_file(trained: Graph, tmp_path):
    """(city 0, capital of, ?) is answered in train; ask a question that only test answers."""
    graph, known = open_graph(trained), known_answers(trained)
    test = [(0, r, h, t) for h, r, t in graph.test.tolist()] + [(1, r, t, h) for h, r, t in graph.test.tolist()]
    side, relation, given, answer = next(q for q in test if known[q[:3]] == {q[3]})
    asked = question_id(side, graph.entities[given], graph.relations[relation])
    others = [e for e in range(graph.num_entities) if e != answer][:3]
    listed = [others[0], answer, others[1]]
    lines = [f"{asked} Q0 {trec_word(graph.entities[e])} {i + 1} {-i} x\n" for i, e in enumerate(listed)]
    (tmp_path / "run").write_text("".join(lines))
    run = import_run(trained, tmp_path / "run", name="x").system.run
    assert read_topk(run).raw.tolist() == [[1, 3]]
    (tmp_path / "run").write_text("".join(line for i, line in enumerate(lines) if i != 1))
    run = import_run(trained, tmp_path / "run", name="y").system.run
    assert read_topk(run).raw.tolist() == [[0, 0]]


def test_the_log_says_where_lists_are_shorter_than_the_depth(trained: Graph, tied, tmp_path):
    own = make_pool(trained, systems=["transe"])
    import_run(trained, write_lists(tmp_path / "run", own, tied["transe"], full=True, first=4), name="theirs")
    pool = make_pool(trained, name="q", systems=["theirs"], rule="raw")
    log = Job.objects.get(pool=pool).log
    assert "theirs was imported with 4 entities in its longest list" in log
    assert "at depth 5 of their raw lists" in log


# -- growth -----------------------------------------------------------------------------------------------------


def run_extension(pool: Pool, **asked: object) -> Pool:
    job = extend_pool(pool, predictive=False, **asked)  # type: ignore[arg-type]
    execute(job.pk, "w")
    job.refresh_from_db()
    assert job.state == "done", job.log
    return Pool.objects.get(pk=pool.pk)


def test_a_raw_pool_grows_as_a_raw_pool(trained: Graph, tied):
    pool = make_pool(trained, rule="raw", depth=3, systems=["transe"])
    pool = run_extension(pool, depth=6, systems=["distmult"])
    only = {name: tied[name] for name in ("transe", "distmult")}
    assert stored(pool) == literal(pool, only, "raw")


def test_an_extension_asks_before_it_scores_again(trained: Graph, tied):
    pool = make_pool(trained, rule="raw", depth=3, systems=["transe"])
    make_pool(trained, name="other", systems=["distmult"])
    make_old(Run.objects.get(system__name="distmult"))
    with pytest.raises(PoolError, match="distmult lacks it"):
        extend_pool(pool, systems=["distmult"])
    pool = run_extension(pool, systems=["distmult"], score_again=True)
    assert stored(pool) == literal(pool, {name: tied[name] for name in ("transe", "distmult")}, "raw")


def test_what_a_system_would_bring_follows_the_rule_of_the_pool(trained: Graph, tied):
    pool = make_pool(trained, rule="raw", systems=["transe"])
    system = System.objects.get(name="distmult")
    make_pool(trained, name="other", systems=["distmult"])
    expected = literal(pool, {"distmult": tied["distmult"]}, "raw")
    assert set(map(tuple, candidates_of(pool, system).triples.tolist())) == set(expected)
    make_old(Run.objects.get(system=system))
    system = System.objects.get(name="distmult")
    expected = literal(pool, {"distmult": tied["distmult"]}, "filtered")
    assert set(map(tuple, candidates_of(pool, system).triples.tolist())) == set(expected)
