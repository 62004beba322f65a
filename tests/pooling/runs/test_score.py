"""Runs: what is stored of a scoring pass equals PyKEEN's evaluator, and is never scored twice."""

from __future__ import annotations

import errno
import json
import shutil
import weakref
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.callbacks import Watch
from core.files.artifacts import ArtifactError, artifact_path
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Run, System
from pooling.questions.kernel import distinct_questions, questions_of
from pooling.runs import files
from pooling.runs import score as runs
from pooling.runs.files import RunError, TopK, parse_question_id, question_id, read_candidates, read_ranks, read_topk
from pooling.runs.score import score_system, wanted_triples
from pooling.scoring import ranking
from pooling.scoring.rank_rows import find, question_keys, row_keys, rows_of
from pooling.scoring.ranks import tie_order
from pooling.training.train import SystemError_
from tests.factories import make_pool, make_system, make_umls, town

NONE = np.zeros((0, 3), np.int32)


@pytest.fixture
def system(town: Graph) -> System:
    return make_system(town, "distmult")


def scores_of(system: System, triples: np.ndarray) -> np.ndarray:
    """Scores of all entities for the tail questions, then the head questions, by the model itself; [2m, E]."""
    graph = open_graph(system.graph)
    scorer = runs.scorer_of(system, graph)
    rows = rows_of(triples)
    return scorer.scores(rows.side, rows.given, rows.relation).cpu().numpy()


def known_by_question(graph, *splits: np.ndarray) -> dict[tuple[int, int, int], set[int]]:
    known: dict[tuple[int, int, int], set[int]] = {}
    for head, relation, tail in np.concatenate(splits).tolist():
        known.setdefault((0, relation, head), set()).add(tail)
        known.setdefault((1, relation, tail), set()).add(head)
    return known


# -- equal to PyKEEN --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["transe", "complex"])
def test_ranks_through_the_whole_stack_equal_pykeens_evaluator(db, kind):
    """score_system → rank rows → rank table → micro measures, against PyKEEN's filtered realistic ranks."""
    import torch
    from pykeen.evaluation import RankBasedEvaluator

    from evaluation.labels.label_sets import label_set
    from evaluation.labels.pool_table import pool_table
    from evaluation.measures.values import values

    graph = make_umls()
    system = make_system(graph, kind)
    pool = make_pool(graph, sample=0.1, systems=[kind])
    arrays = open_graph(graph)

    def mapped(triples: np.ndarray) -> torch.Tensor:
        return torch.tensor(triples.astype(np.int64))

    evaluator = RankBasedEvaluator(clear_on_finalize=False)
    evaluated = evaluator.evaluate(
        runs.scorer_of(system, arrays).model,
        mapped(arrays.test),
        batch_size=64,
        additional_filter_triples=[mapped(arrays.train), mapped(arrays.valid)],
        use_tqdm=False,
    )
    expected = np.concatenate([np.concatenate(evaluator.ranks[(side, "realistic")]) for side in ("tail", "head")])
    table = pool_table(pool)
    full_test = label_set(pool, table, "full-test")
    ranks = full_test.prepared.table
    names = ["micro_mr", "micro_mrr", "micro_hits@1", "micro_hits@10"]
    found = values(full_test.prepared, full_test.state, names)
    # the same answers in PyKEEN's order: tail sides of the test triples, then their head sides
    row = found["micro_mr"].unit_row
    ours = {
        (int(table.triples[ranks.triple[i]] @ [10**8, 10**4, 1]), int(ranks.side[ranks.question[i]])): rank
        for i, rank in zip(row, found["micro_mr"].per_unit[0], strict=True)
    }
    codes = arrays.test.astype(np.int64) @ [10**8, 10**4, 1]
    in_order = [ours[code, side] for side in (0, 1) for code in codes.tolist()]
    np.testing.assert_array_equal(in_order, expected)
    for name, theirs in (
        ("micro_mr", "arithmetic_mean_rank"),
        ("micro_mrr", "inverse_harmonic_mean_rank"),
        ("micro_hits@1", "hits_at_1"),
        ("micro_hits@10", "hits_at_10"),
    ):
        metric = evaluated.get_metric(f"both.realistic.{theirs}")
        assert found[name].mean()[0] == pytest.approx(metric, abs=1e-6)


# -- against the definition -------------------------------------------------------------------------------------


def test_rank_rows_are_positions_among_what_train_and_valid_do_not_know(system: System):
    graph = open_graph(system.graph)
    run = score_system(system, seeds=NONE, triples=graph.test)
    stored = read_ranks(run)
    scores = scores_of(system, graph.test)
    known = known_by_question(graph, graph.train, graph.valid)
    place = np.argsort(tie_order(graph.num_entities, runs.TIE_SEED))
    rows = rows_of(graph.test)
    keys = row_keys(rows, graph.num_entities, graph.num_relations)
    assert sorted(stored.keys.tolist()) == sorted(set(keys.tolist()))
    for i, key in enumerate(keys.tolist()):
        question = (int(rows.side[i]), int(rows.relation[i]), int(rows.given[i]))
        own, entity = scores[i], int(rows.candidate[i])
        others = [e for e in range(graph.num_entities) if e not in known.get(question, set())]
        ahead = [e for e in others if (-own[e], place[e]) < (-own[entity], place[entity])]
        expected = (
            1 + len(ahead),
            1 + sum(own[e] > own[entity] for e in others),
            sum(own[e] >= own[entity] for e in others),
        )
        assert tuple(stored.ranks[:, find(stored.keys, np.array([key]))[0]]) == expected


def test_candidates_of_a_passing_look_are_not_kept_in_memory(system: System):
    run = score_system(system, seeds=open_graph(system.graph).test[:3], triples=NONE)
    files._cache.clear()
    once = read_topk(run, keep=False)
    assert files._cache == {}
    kept = read_topk(run)
    assert all(np.array_equal(*columns) for columns in zip(once, kept, strict=True))
    assert read_topk(run, keep=False) is kept


@pytest.mark.parametrize("rows", [1 << 20, 5])
def test_entities_are_read_alone_from_all_row_groups_of_all_blocks(system: System, rows: int, monkeypatch):
    written = pq.ParquetWriter.write_table
    monkeypatch.setattr(pq.ParquetWriter, "write_table", lambda writer, table: written(writer, table, rows))
    graph = open_graph(system.graph)
    score_system(system, seeds=graph.test[5:8], triples=NONE)
    run = score_system(system, seeds=graph.test[:5], triples=NONE)
    with pq.ParquetFile(files.checked(run, "topk.parquet")) as file:
        many = (file.metadata.num_rows, file.num_row_groups)
    whole, found = read_topk(run, keep=False), read_candidates(run)
    assert many == ((found.entity >= 0).sum(), 2 if rows > 5 else many[1]) and (rows > 5 or many[1] > 10)
    np.testing.assert_array_equal(found.keys, whole.keys)
    np.testing.assert_array_equal(found.entity, whole.entity)


def test_one_row_group_is_in_memory_at_a_time(system: System, monkeypatch):
    graph, seen = open_graph(system.graph), list[weakref.ref[pa.Table]]()
    score_system(system, seeds=graph.test[5:8], triples=NONE)
    run = score_system(system, seeds=graph.test[:5], triples=NONE)

    def look(table: pa.Table) -> pa.Table:
        assert all(earlier() is None for earlier in seen)
        seen.append(weakref.ref(table))
        return table

    original = files.row_groups
    monkeypatch.setattr(files, "row_groups", lambda *args, **kwargs: map(look, original(*args, **kwargs)))
    read_candidates(run)
    assert len(seen) == 2


def test_candidates_are_the_best_of_what_no_split_knows(system: System):
    graph = open_graph(system.graph)
    seeds = graph.test[:8]
    topk = read_topk(score_system(system, seeds=seeds, triples=NONE))
    scores = scores_of(system, seeds)
    known = known_by_question(graph, graph.train, graph.valid, graph.test)
    place = np.argsort(tie_order(graph.num_entities, runs.TIE_SEED))
    rows = rows_of(seeds)
    keys = question_keys(rows, graph.num_entities, graph.num_relations)
    assert topk.keys.tolist() == sorted(set(keys.tolist()))
    for i, key in enumerate(keys.tolist()):
        question = (int(rows.side[i]), int(rows.relation[i]), int(rows.given[i]))
        order = sorted(range(graph.num_entities), key=lambda e, i=i: (-scores[i][e], place[e]))
        expected = [e for e in order if e not in known[question]][: runs.TOP_K]
        at = find(topk.keys, np.array([key]))[0]
        assert topk.entity[at][: len(expected)].tolist() == expected
        assert set(topk.entity[at][len(expected) :].tolist()) == {-1}
        np.testing.assert_allclose(topk.score[at][: len(expected)], scores[i][expected], rtol=1e-5)


# -- passes -----------------------------------------------------------------------------------------------------


@pytest.fixture
def scored_questions(monkeypatch) -> list[int]:
    """How many questions each pass scored."""
    passes: list[int] = []
    original = ranking.score_questions

    def count(scorer, questions, **options):
        passes.append(len(questions.side))
        return original(scorer, questions, **options)

    monkeypatch.setattr(ranking, "score_questions", count)
    return passes


def rows_read(run: Run) -> dict[int, tuple[int, ...]]:
    ranks = read_ranks(run)
    return {key: tuple(ranks.ranks[:, i].tolist()) for i, key in enumerate(ranks.keys.tolist())}


def lists_read(run: Run) -> dict[int, list[int]]:
    topk: TopK = read_topk(run)
    return {key: topk.entity[i].tolist() for i, key in enumerate(topk.keys.tolist())}


def test_a_second_pass_scores_only_what_is_missing(system: System, scored_questions):
    graph = open_graph(system.graph)
    first = score_system(system, seeds=graph.test[:5], triples=graph.test[:5])
    before, lists = rows_read(first), lists_read(first)
    same = score_system(system, seeds=graph.test[:5], triples=graph.test[:3])
    assert same.sha256 == first.sha256
    assert len(scored_questions) == 1
    run = score_system(system, seeds=graph.test[:5], triples=graph.test)
    e, r = graph.num_entities, graph.num_relations
    keys = set(row_keys(rows_of(graph.test), e, r).tolist())
    missing = {key // e for key in keys - set(before)}
    assert scored_questions[1] == len(missing)
    after = rows_read(run)
    assert set(after) == keys
    assert {key: after[key] for key in before} == before
    assert {key: lists_read(run)[key] for key in lists} == lists
    assert (run.num_rank_rows, run.num_questions) == (len(keys), len(lists_read(run)))
    assert pq.read_metadata(artifact_path(run.artifact) / "ranks.parquet").num_row_groups == 2


def test_two_passes_give_what_one_gives(town: Graph):
    graph = open_graph(town)
    system = make_system(town, "complex")
    whole = score_system(system, seeds=graph.test, triples=graph.test)
    expected = rows_read(whole), lists_read(whole)
    whole.delete()
    for part in (graph.test[20:], graph.test[:9], graph.test):
        run = score_system(system, seeds=part, triples=part)
    assert (rows_read(run), lists_read(run)) == expected


def test_facts_of_train_and_valid_get_no_rank_rows(system: System):
    graph = open_graph(system.graph)
    asked = np.concatenate([graph.train[:4], graph.valid[:2], graph.test[:1]])
    run = score_system(system, seeds=NONE, triples=asked)
    assert run.num_rank_rows == 2


def test_a_question_that_everything_answers_is_no_question_of_the_run(system: System, scored_questions):
    graph = open_graph(system.graph)
    (sees,) = [t for t in graph.test.tolist() if graph.relations[t[1]] == "sees"]
    seeds = np.array([sees], dtype=np.int32)
    run = score_system(system, seeds=seeds, triples=NONE)
    head_question = question_keys(rows_of(seeds), graph.num_entities, graph.num_relations)[1]
    assert read_topk(run).keys.tolist() == [head_question]
    assert run.num_questions == 1
    assert score_system(system, seeds=seeds, triples=NONE).sha256 == run.sha256
    assert scored_questions == [1]


def test_wanted_triples_are_the_pooled_and_all_test_triples(pool):
    graph = open_graph(pool.graph)
    pooled = set(pool.triples.values_list("head", "relation", "tail"))
    expected = pooled | set(map(tuple, graph.test.tolist()))
    assert list(map(tuple, wanted_triples(pool, graph).tolist())) == sorted(expected)


def test_progress_and_stop_reach_the_pass(system: System):
    graph = open_graph(system.graph)
    told: list[tuple[int, int]] = []
    score_system(system, seeds=graph.test, triples=NONE, watch=Watch(lambda *at: told.append(at)))
    assert told and told[-1][0] == told[-1][1]
    other = make_system(system.graph, "transe")
    with pytest.raises(InterruptedError):
        score_system(other, seeds=graph.test, triples=NONE, watch=Watch(stop=lambda: True))
    assert not Run.objects.filter(system=other).exists()


# -- files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entity", ["a", "a:b", "a b", "50%", "%3A", "ü/é?&", "日本", "a\u00a0b"])
@pytest.mark.parametrize("relation", ["knows", "/film/film:x", "lives in"])
def test_question_ids_come_back_whatever_the_names(entity, relation):
    from pooling.graphs.kernels.graph_arrays import GraphArrays

    graph = GraphArrays(
        ["x", entity], ["", ""], [(), ()], ["first", relation], ["", ""], ["", ""], ["", ""], NONE, NONE, NONE
    )
    for side in (0, 1):
        text = question_id(side, entity, relation)
        assert text.count(":") == 2 and " " not in text and "\u00a0" not in text
        assert parse_question_id(text, graph) == (side * 2 + 1) * 2 + 1


def test_stored_question_ids_are_those_of_the_spec(system: System):
    graph = open_graph(system.graph)
    run = score_system(system, seeds=NONE, triples=graph.test)
    stored = set(pq.read_table(artifact_path(run.artifact) / "ranks.parquet")["question"].to_pylist())
    expected = set()
    for head, relation, tail in town()["test"]:
        quoted = [files.quote(name, safe="") for name in (head, relation, tail)]
        expected |= {f"tail:{quoted[0]}:{quoted[1]}", f"head:{quoted[2]}:{quoted[1]}"}
    assert stored == expected


def test_the_files_have_the_columns_of_the_spec(system: System):
    graph = open_graph(system.graph)
    run = score_system(system, seeds=graph.test, triples=graph.test)
    folder = artifact_path(run.artifact)
    columns = {
        name: {f.name: str(f.type) for f in pq.read_schema(folder / name)} for name in ("topk.parquet", "ranks.parquet")
    }
    question = "dictionary<values=string, indices=int32, ordered=0>"
    assert columns == {
        "topk.parquet": {
            "question": question,
            "rank": "int32",
            "entity": "int32",
            "score": "float",
            "raw_rank": "int32",
        },
        "ranks.parquet": {
            "question": question,
            "entity": "int32",
            "strict": "int32",
            "optimistic": "int32",
            "pessimistic": "int32",
        },
    }
    about = json.loads((folder / "run.json").read_text())
    assert (about["system"], about["tie_seed"], about["depth"]) == ("distmult", runs.TIE_SEED, 100)
    assert about["checkpoint_sha256"] == system.sha256
    assert (about["device"], about["scored_on"]) == ("cpu", ["cpu"])


@pytest.mark.parametrize("name", ["ranks.parquet", "topk.parquet", "run.json"])
def test_a_damaged_file_is_refused(system: System, name):
    graph = open_graph(system.graph)
    run = score_system(system, seeds=graph.test, triples=graph.test)
    path = artifact_path(run.artifact) / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    files._cache.clear()
    with pytest.raises(ArtifactError) as caught:
        read_topk(run) if name == "topk.parquet" else read_ranks(run)
    assert str(caught.value) == (
        f"{path} is not the file that was written (SHA-256 differs): restore it from a backup."
    )
    path.unlink()
    with pytest.raises(ArtifactError) as caught:
        read_topk(run) if name == "topk.parquet" else read_ranks(run)
    assert str(caught.value).startswith(f"{path} is missing")


def test_a_checkpoint_that_is_not_the_trained_one_is_refused(system: System):
    (artifact_path(system.artifact) / "best.pt").write_bytes(b"something else")
    with pytest.raises(ArtifactError, match=r"best\.pt is not the file that was written"):
        score_system(system, seeds=NONE, triples=open_graph(system.graph).test)


def test_a_gpu_that_is_not_there_and_a_kind_that_nobody_knows_are_said(system: System, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    graph = open_graph(system.graph)
    system.settings["device"] = "cuda"
    with pytest.raises(SystemError_, match="is to be ranked on a GPU, and PyTorch sees none at this worker"):
        score_system(system, seeds=graph.test, triples=graph.test)
    system.kind = "gone"
    with pytest.raises(RunError, match="cannot be ranked here: unknown system 'gone'"):
        score_system(system, seeds=graph.test, triples=graph.test)


def test_an_untrained_system_has_no_run(town: Graph):
    waiting = make_system(town, "transe", trained=False)
    with pytest.raises(RunError) as caught:
        score_system(waiting, seeds=NONE, triples=open_graph(town).test)
    assert str(caught.value) == "System town/transe is not trained yet: run train_systems town first."


def test_scores_that_are_not_finite_name_system_and_question(system: System, monkeypatch):
    whole, graph = runs.scorer_of, open_graph(system.graph)

    def broken(*args):
        scorer = whole(*args)
        scorer.features.fill_(np.nan)
        return scorer

    monkeypatch.setattr(runs, "scorer_of", broken)
    with pytest.raises(RunError) as caught:
        score_system(system, seeds=NONE, triples=graph.test)
    assert str(caught.value).startswith(f"System {system} cannot be ranked. ")
    assert "the scores of the tail question of entity" in str(caught.value)
    assert str(caught.value).endswith("are not finite: train it anew with a lower learning_rate.")


def folders() -> list[Path]:
    return sorted(artifact_path("runs").iterdir())


def test_an_older_run_goes_when_the_newer_is_there(system: System):
    graph = open_graph(system.graph)
    for part in (graph.test[:3], graph.test):
        run = score_system(system, seeds=part, triples=part)
        assert folders() == [artifact_path(run.artifact)]


@pytest.mark.parametrize("fails_at", ["topk.parquet", "ranks.parquet", "run.json"])
def test_a_full_disk_leaves_the_old_run_whole_and_nothing_else(system: System, monkeypatch, fails_at):
    graph = open_graph(system.graph)
    run = score_system(system, seeds=graph.test[:3], triples=graph.test[:3])
    before = rows_read(run), lists_read(run), run.sha256
    write_table, write_json = pq.ParquetWriter.write_table, runs.write_json

    def full(self, table: pa.Table, *args, **kwargs) -> None:
        if (fails_at == "topk.parquet") == ("score" in table.column_names):
            raise OSError(errno.ENOSPC, "No space left on device")
        write_table(self, table, *args, **kwargs)

    def no_json(path: Path, content: object) -> None:
        with files.writing(path):
            raise OSError(errno.ENOSPC, "No space left on device")

    if fails_at == "run.json":
        monkeypatch.setattr(runs, "write_json", no_json)
    else:
        monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(ArtifactError) as caught:
        score_system(system, seeds=graph.test, triples=graph.test)
    assert str(caught.value).startswith(f"{fails_at} could not be written to ")
    assert "No space left on device. What was there before is unchanged" in str(caught.value)
    monkeypatch.setattr(pq.ParquetWriter, "write_table", write_table)
    monkeypatch.setattr(runs, "write_json", write_json)
    files._cache.clear()
    kept = Run.objects.get(system=system)
    assert (rows_read(kept), lists_read(kept), kept.sha256) == before
    assert folders() == [artifact_path(kept.artifact)]
    assert score_system(system, seeds=graph.test, triples=graph.test).num_rank_rows > len(before[0])


@pytest.fixture
def meanwhile(system: System, monkeypatch):
    """Have another job extend the run while this one computes its scores, so many times."""

    def happen(times: int) -> None:
        graph, original = open_graph(system.graph), ranking.score_questions
        left = [times]

        def slow(*args, **kwargs):
            if left[0] > 0:
                left[0] -= 1
                done = times - left[0]
                monkeypatch.setattr(ranking, "score_questions", original)
                score_system(system, seeds=NONE, triples=graph.test[3 * done : 3 * done + 3])
                monkeypatch.setattr(ranking, "score_questions", slow)
            return original(*args, **kwargs)

        monkeypatch.setattr(ranking, "score_questions", slow)

    return happen


@pytest.mark.parametrize("there_before", [True, False])
@pytest.mark.parametrize("times", [1, 3])
def test_a_run_that_another_job_extends_meanwhile_loses_nothing(system, meanwhile, there_before, times):
    graph = open_graph(system.graph)
    whole = score_system(make_system(system.graph, "distmult", seed=1), seeds=graph.test, triples=graph.test)
    if there_before:
        score_system(system, seeds=NONE, triples=graph.test[:2])
    meanwhile(times)
    score_system(system, seeds=graph.test, triples=graph.test)
    kept = Run.objects.get(system=system)
    assert set(rows_read(kept)) == set(rows_read(whole))
    assert set(lists_read(kept)) == set(lists_read(whole))
    assert kept.num_questions == len(lists_read(kept))
    assert artifact_path(kept.artifact) in folders() and len(folders()) == 2


def test_a_run_that_others_extend_forever_is_given_up(system: System, meanwhile):
    graph = open_graph(system.graph)
    meanwhile(100)
    with pytest.raises(RunError) as caught:
        score_system(system, seeds=graph.test, triples=graph.test)
    assert str(caught.value) == "Other jobs keep extending the run of town/distmult; start this one again."
    assert folders() == [artifact_path(Run.objects.get(system=system).artifact)]


def test_a_reader_with_an_old_row_reads_the_run_that_took_its_place(system: System):
    graph = open_graph(system.graph)
    old = score_system(system, seeds=NONE, triples=graph.test[:2])
    newer = score_system(system, seeds=NONE, triples=graph.test)
    files._cache.clear()
    assert rows_read(old) == rows_read(newer)


def test_questions_of_the_seeds_are_stored_once(system: System):
    graph = open_graph(system.graph)
    seeds = np.concatenate([graph.test[:4], graph.test[:4]])
    run = score_system(system, seeds=seeds, triples=NONE)
    questions, _, _ = questions_of(seeds)
    assert run.num_questions == len(questions.side)


# -- lost files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("harm", ["folder", "topk.parquet", "ranks.parquet", "run.json"])
def test_a_run_whose_files_are_lost_is_computed_again_for_all_pools(system: System, harm: str):
    """What the other pool of the graph had is there again too."""
    pool = make_pool(system.graph, systems=["distmult"])
    graph = open_graph(system.graph)
    run = score_system(system, seeds=graph.test, triples=np.concatenate([graph.test, graph.test[:, [2, 1, 0]]]))
    before = read_ranks(run), read_topk(run)
    folder = artifact_path(run.artifact)
    if harm == "folder":
        shutil.rmtree(folder)
    else:
        (folder / harm).write_bytes(b"something else")
    files._cache.clear()
    with pytest.raises(ArtifactError):
        read_topk(run), read_ranks(run)
    again = score_system(system, seeds=graph.test[:3], triples=graph.test[:, [2, 1, 0]])
    assert (again.pk, Run.every.count()) == (run.pk, 1) and again.artifact != run.artifact
    now = read_ranks(again)
    assert (now.ranks[:, find(now.keys, before[0].keys)] == before[0].ranks).all()
    assert np.isin(before[0].keys, now.keys).all()
    seeds = question_keys(distinct_questions(runs.triple_array(pool.seeds.all())), *graph.shape)
    assert np.isin(seeds[np.isin(seeds, before[1].keys)], read_topk(again).keys).all()
    assert score_system(again.system, seeds=graph.test[:3], triples=graph.test) == again  # it is whole
    assert not folder.exists()


def test_a_checkpoint_that_is_lost_says_what_can_be_done(system: System):
    (artifact_path(system.artifact) / "best.pt").unlink()
    with pytest.raises(ArtifactError) as caught:
        score_system(system, seeds=NONE, triples=open_graph(system.graph).test)
    assert str(caught.value).endswith(
        "best.pt is missing: restore the artifact folder, or repeat the step that made it. Without a backup, clone the "
        "system on its page and train the clone: a model cannot be made again in its place."
    )
