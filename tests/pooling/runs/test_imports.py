"""Runs from elsewhere: what becomes of a file, and that a round trip changes nothing."""

from __future__ import annotations

import errno
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from core.files.artifacts import ArtifactError, artifact_path
from core.models import AuditEntry
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table
from evaluation.test_sets.trec import trec_lists
from pooling.errors import PoolError
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, Run, System
from pooling.pools.build import build_pool, create_pool
from pooling.pools.report import pool_families
from pooling.runs import imports as module
from pooling.runs.asked import was_asked
from pooling.runs.export import get_run, whole_run
from pooling.runs.files import RunError, parse_question_id, question_id, read_ranks, read_returned, read_topk
from pooling.runs.imports import import_run, imported_for
from pooling.runs.score import TIE_SEED, score_for_pool, wanted_triples
from pooling.runs.trec_read import TrecError
from pooling.runs.trec_write import packed, pieces, trec_word
from pooling.scoring.rank_rows import find, row_keys, rows_of
from pooling.scoring.ranks import tie_order
from pooling.training.files import SystemFileError, has_files, open_file
from pooling.training.train import SystemError_, create_systems, get_systems
from pooling.training.upkeep import train_anew
from tests.factories import make_pool, make_system, progress_of, town

TEST = town()["test"]
ASKED = question_id(0, "p11", "lives in")  # no test triple, no topic


def write(path: Path, *lines: str, gz: bool = False) -> Path:
    path.write_bytes(b"".join(packed(pieces(lines)) if gz else pieces(lines)))
    return path


def line(question: str, entity: str, rank: object, score: object, tag: str = "them") -> str:
    return f"{question} Q0 {trec_word(entity)} {rank} {score} {tag}"


def whole(run: Run) -> list[str]:
    return b"".join(whole_run(run)).decode().splitlines()


def knows(side: int = 0, place: int = 0) -> tuple[str, str]:
    """A question of a test triple of `knows`, and the answer that this triple gives."""
    head, relation, tail = TEST[place]
    return (question_id(0, head, relation), tail) if side == 0 else (question_id(1, tail, relation), head)


def rows_by_name(run: Run, question: str) -> dict[str, tuple[int, ...]]:
    """Rank rows of one question by entity key."""
    graph, held = open_graph(run.system.graph), read_ranks(run)
    asked, entity = np.divmod(held.keys, graph.num_entities)
    mine = np.flatnonzero(asked == parse_question_id(question, graph))
    return {graph.entities[entity[i]]: tuple(held.ranks[:, i].tolist()) for i in mine}


def unknown_of(graph: Graph, question: str) -> list[str]:
    """Entities that answer the question in no split."""
    arrays = open_graph(graph)
    known = {answer for _, answer in answers_of(question)}
    return [key for key in arrays.entities if key not in known]


def answers_of(question: str) -> list[tuple[str, str]]:
    """Split and answer of every triple of the town that answers a question."""
    return [
        (split, answer)
        for split, triples in town().items()
        for head, relation, tail in triples
        for asked, answer in ((question_id(0, head, relation), tail), (question_id(1, tail, relation), head))
        if asked == question
    ]


# -- what is made -----------------------------------------------------------------------------------------------


def test_a_file_becomes_a_system_with_a_run(town: Graph, tmp_path: Path):
    question, answer = knows()
    free = unknown_of(town, question)
    path = write(
        tmp_path / "them.run",
        line(question, free[0], 1, 9.5),
        line(question, answer, 2, 7),
        line(question, free[1], 3, 7),
        line(question, free[2], 4, -1e3),
    )
    imported = import_run(town, path, name="theirs", family="neural")
    system = System.objects.get(name="theirs")
    assert imported.system == system
    assert (system.kind, system.state, system.sha256, system.artifact) == ("imported", "trained", "", "")
    assert (system.epochs_done, system.validation_mrr, system.history) == (0, None, [])
    assert {k: v for k, v in system.settings.items() if k != "sha256"} == {
        "family": "neural",
        "file": "them.run",
        "lines": 4,
        "topics": "town",
        "longest": 4,
    }
    assert (system.run.depth, system.run.num_questions) == (3, 1)
    place = np.argsort(tie_order(town.num_entities, TIE_SEED))
    index = open_graph(town).entity_index
    second = 2 if place[index[answer]] < place[index[free[1]]] else 3
    assert rows_by_name(system.run, question)[answer] == (second, 2, 3)
    topk = read_topk(system.run)
    assert [open_graph(town).entities[e] for e in topk.entity[0]] == free[:3]
    assert topk.score[0].tolist() == [9.5, 7, -1e3]
    entry = AuditEntry.objects.get(act="run-imported")
    assert (entry.about, entry.details["lines"]) == ("town/theirs", 4)


def test_gzip_and_byte_order_mark_and_tabs_and_windows_lines_are_read(town: Graph, tmp_path: Path):
    question, answer = knows()
    free = unknown_of(town, question)[0]
    lines = [line(question, free, 1, 2), "", line(question, answer, 2, 1)]
    plain = import_run(town, write(tmp_path / "a", *lines), name="a").system
    packed = import_run(town, write(tmp_path / "b.gz", *lines, gz=True), name="b").system
    text = "\r\n".join(lines).replace(" ", "\t")
    (tmp_path / "c").write_bytes(b"\xef\xbb\xbf" + text.encode())
    odd = import_run(town, tmp_path / "c", name="c").system
    expected = rows_by_name(plain.run, question)
    assert expected[answer] == (2, 2, 2)
    assert rows_by_name(packed.run, question) == rows_by_name(odd.run, question) == expected


def test_what_was_not_returned_has_rank_0(town: Graph, tmp_path: Path):
    question, answer = knows()
    path = write(tmp_path / "run", line(question, unknown_of(town, question)[0], 1, 1))
    run = import_run(town, path, name="x").system.run
    others = [a for split, a in answers_of(question) if split == "test"]
    assert answer in others
    assert rows_by_name(run, question) == dict.fromkeys(others, (0, 0, 0))
    assert run.num_rank_rows == len(others)  # without a pool: of the file's questions only


def test_known_answers_are_left_out_and_counted(town: Graph, tmp_path: Path):
    question, answer = knows()
    known = [a for split, a in answers_of(question) if split in ("train", "valid")]
    assert known
    lines = [line(question, a, i + 1, 100 - i) for i, a in enumerate([*known, answer])]
    imported = import_run(town, write(tmp_path / "run", *lines), name="x")
    assert f"{len(known):,} known answers (train or valid) were left out." in imported.notes
    assert rows_by_name(imported.system.run, question)[answer] == (1, 1, 1)


def test_ranks_that_contradict_the_scores_are_told(town: Graph, tmp_path: Path):
    question, answer = knows()
    free = unknown_of(town, question)
    path = write(
        tmp_path / "run",
        line(question, free[0], 3, 9),
        line(question, free[1], 1, 8),
        line(question, free[2], 1, 8),
        line(question, answer, 4, 7),
        line(question, free[3], "x", 6),
    )
    imported = import_run(town, path, name="x", scores_decide=True)
    assert "The rank column contradicts the scores in 3 lines (first: line 2); the scores decide." in imported.notes
    assert rows_by_name(imported.system.run, question)[answer] == (4, 4, 4)


def test_ranks_that_contradict_most_scores_are_refused_unless_the_scores_decide(town: Graph, tmp_path: Path):
    question, answer = knows()
    free = unknown_of(town, question)
    distances = [line(question, key, place, place / 10) for place, key in enumerate([answer, *free[:3]], 1)]
    path = write(tmp_path / "run", *distances)
    assert refusal(town, path).startswith(
        f"run: the rank column contradicts the scores in 3 lines of 4. For example, in {question} line 1 has rank 1 "
        "with score 0.1, and line 4 has rank 4 with score 0.4."
    )
    places = [line(question, key, f"{place}.0", -place) for place, key in enumerate([answer, *free[:3]], 1)]
    said = f"For example, in {question} line 1 has no whole number as its rank with score -1"
    assert said in refusal(town, write(tmp_path / "places", *places))
    run = import_run(town, path, name="x", scores_decide=True).system.run
    assert rows_by_name(run, question)[answer] == (4, 4, 4)
    few = [
        line(question, key, place, score) for key, place, score in zip(free, (1, 2, 3, 9), (4, 3, 2.5, 2), strict=False)
    ]
    few.append(line(question, answer, 4, 1))  # one of four lines that follow a better one
    notes = import_run(town, write(tmp_path / "few", *few), name="y").notes
    assert "The rank column contradicts the scores in 1 line (first: line 5); the scores decide." in notes


def test_notes_of_a_good_file(town: Graph, tmp_path: Path):
    (question, answer), (other, _) = knows(), knows(1)
    free, others = unknown_of(town, question), unknown_of(town, other)
    path = write(
        tmp_path / "run",
        line(question, free[0], 1, 2),
        line(question, answer, 2, 1),
        line(other, others[0], 1, 2),
        line(other, others[1], 2, 1),
    )
    topics = len({q for h, r, t in TEST for q in (question_id(0, h, r), question_id(1, t, r))})
    assert import_run(town, path, name="x").notes == [
        f"4 lines, answers to 2 of {topics} questions.",
        "It holds 1 to 2 candidates of a question.",
        f"It was not asked {topics - 2} of {topics} questions of the graph: it has no figure on them, and systems are "
        "compared on the others. If it was asked them, import it with its topics file.",
        "Known answers are missing from its lists: positions in the full list are not known for 2 of 2 questions, so "
        "pools of the rule raw cannot use it.",
    ]


def test_notes_tell_questions_of_the_pool_from_those_of_the_full_test_set(town: Graph, tmp_path: Path):
    """A run that answers topics.tsv of a pool answers all of it."""
    make_system(town, "transe")
    pool = make_pool(town, sample=None, count=1, depth=2, filters=[])
    lines = [text.split("\t")[0] for text in trec_lists(pool)["topics.tsv"]][1:]
    others = {question_id(0, h, r) for h, r, t in TEST} | {question_id(1, t, r) for h, r, t in TEST}
    others -= set(lines)
    assert lines and others
    path = write(tmp_path / "run", *(line(question, unknown_of(town, question)[0], 1, 2) for question in lines))
    asked, only_test = len(lines), len(others)
    assert import_run(town, path, name="x", pool=pool).notes[0] == (
        f"{asked} lines, answers to {asked} of {asked} questions, and to 0 of {only_test} that only full test asks."
    )


def test_candidates_are_cut_and_ranks_are_not(town: Graph, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(module, "MOST_CANDIDATES", 2)
    question, answer = knows()
    free = unknown_of(town, question)
    lines = [line(question, key, i + 1, -i) for i, key in enumerate([*free[:4], answer])]
    imported = import_run(town, write(tmp_path / "run", *lines), name="x")
    assert "Pools can use the first 2; ranks are kept of all." in imported.notes
    assert imported.system.run.depth == 2
    assert rows_by_name(imported.system.run, question)[answer] == (5, 5, 5)


# -- refused ----------------------------------------------------------------------------------------------------


def refusal(graph: Graph, path: Path, **options: object) -> str:
    """The message, after a look that nothing was written."""
    before = System.objects.count()
    with pytest.raises((TrecError, SystemError_)) as caught:
        import_run(graph, path, **{"name": "x", **options})  # type: ignore[arg-type]
    assert System.objects.count() == before
    assert not artifact_path("runs").exists()
    return str(caught.value)


def test_names_families_and_pools_that_do_not_fit_are_refused(town: Graph, tmp_path: Path):
    question, answer = knows()
    path = write(tmp_path / "run", line(question, answer, 1, 1))
    make_system(town, "transe")
    assert refusal(town, path, name="transe") == "Graph town has a system transe already: choose another name."
    assert refusal(town, path, name="a b") == "System name 'a b': use letters, digits, - and _, at most 80."
    assert refusal(town, path, family="magic") == (
        "Unknown family 'magic': give translational, decomposition, hyperbolic, neural, query, rules, other or "
        "'not known'."
    )
    pool = Pool(graph=Graph(pk=town.pk + 1, name="elsewhere"), name="p")
    assert refusal(town, path, pool=pool) == "Pool p is of graph elsewhere, not of town."
    known = next(a for split, a in answers_of(question) if split == "train")
    path = write(tmp_path / "run", line(question, known, 1, 1))
    assert refusal(town, path) == (
        "run: all its 1 lines are known answers (train or valid), so nothing is left to rank; nothing was imported."
    )


def test_a_full_disk_leaves_nothing(town: Graph, tmp_path: Path, monkeypatch):
    def full(*args: object, **kwargs: object):
        raise OSError(errno.ENOSPC, "No space left on device")

    question, answer = knows()
    path = write(tmp_path / "run", line(question, answer, 1, 1))
    monkeypatch.setattr("pooling.runs.files.pq.ParquetWriter.write_table", full)
    with pytest.raises(ArtifactError):
        import_run(town, path, name="x")
    assert System.objects.count() == Run.objects.count() == 0
    assert list(artifact_path("runs").iterdir()) == []


# -- pools ------------------------------------------------------------------------------------------------------


@pytest.fixture
def exported(pool: Pool, tmp_path: Path) -> Path:
    """The run of transe."""
    return write(tmp_path / "transe.run.gz", *whole(get_run(pool.graph, "transe")), gz=True)


def test_a_round_trip_changes_no_rank(pool: Pool, exported: Path, tmp_path: Path):
    """All of it: the town is so small that a run holds every candidate."""
    original = get_run(pool.graph, "transe")
    imported = import_run(pool.graph, exported, name="again", pool=pool)
    ours, theirs = read_ranks(original), read_ranks(imported.system.run)
    assert theirs.keys.tolist() == ours.keys.tolist()
    assert np.ptp(ours.ranks, axis=0).max() == 0  # no ties, which would not come back
    assert theirs.ranks.tolist() == ours.ranks.tolist()
    top, again = read_topk(original), read_topk(imported.system.run)
    at = find(again.keys, top.keys)
    assert (at >= 0).all()
    for row, place in enumerate(at.tolist()):
        expected = [e for e in top.entity[row].tolist() if e >= 0]
        assert [e for e in again.entity[place].tolist() if e >= 0] == expected
    lines = [text.rpartition(" ")[0] for text in whole(original)]
    assert [text.rpartition(" ")[0] for text in whole(imported.system.run)] == lines
    table = pool_table(pool)
    for key in ("seeds", "full-test"):
        chosen = label_set(pool, table, key)
        for name, values in chosen.values(["micro_mrr", "macro_hits@10", "map@20"]).items():
            mean = dict(zip(table.systems, values.mean(), strict=True))
            assert mean["again"] == mean["transe"], (key, name)


@pytest.mark.parametrize("depth", ["1", "3", "uneven"])
def test_a_run_of_any_depth_keeps_the_ranks_of_what_it_holds(pool: Pool, exported: Path, tmp_path: Path, depth: str):
    graph = open_graph(pool.graph)
    kept = []
    for text in gzip.decompress(exported.read_bytes()).decode().splitlines():
        question, rank = text.split()[0], int(text.split()[3])
        limit = parse_question_id(question, graph) % 4 if depth == "uneven" else int(depth)
        if rank <= limit:
            kept.append(text)
    run = import_run(pool.graph, write(tmp_path / "cut", *kept), name="cut", pool=pool).system.run
    whole, cut = read_ranks(get_run(pool.graph, "transe")), read_ranks(run)
    assert cut.keys.tolist() == whole.keys.tolist()
    limits = (whole.keys // graph.num_entities) % 4 if depth == "uneven" else int(depth)
    assert cut.ranks.tolist() == np.where(whole.ranks[0] <= limits, whole.ranks, 0).tolist()
    table = pool_table(pool)
    chosen = label_set(pool, table, "seeds")
    at_1 = chosen.values(["micro_hits@1"])["micro_hits@1"].mean()
    assert table.systems == ["transe", "distmult", "complex", "cut"]
    if depth != "uneven":  # a list of one or three holds whoever is first
        original = label_set(pool, table, "full-test").values(["macro_hits@1"])["macro_hits@1"].mean()
        assert original[3] == original[0]
    assert at_1[3] <= at_1[0]


def test_a_pool_that_grows_fills_its_rows_from_the_file(trained: Graph, exported_seeds: Path):
    first = make_pool(trained, "small", sample=0.2)
    run = import_run(trained, exported_seeds, name="theirs", pool=first).system.run
    assert find(read_ranks(run).keys, keys_of(first)).min() >= 0
    second = make_pool(trained, "large", sample=0.9)
    missing = find(read_ranks(run).keys, keys_of(second)) < 0
    assert missing.any()
    run = score_for_pool(run.system, second, progress_of(second))
    held, returned = read_ranks(run), read_returned(run)
    asked = was_asked(run, keys_of(second) // open_graph(trained).num_entities)
    assert asked.any() and not asked.all()  # what its pool did not ask stays without rows
    assert (find(held.keys, keys_of(second)[~asked]) < 0).all()
    wanted = keys_of(second)[asked]
    at, there = find(held.keys, wanted), find(returned.keys, wanted)
    assert at.min() >= 0
    expected = np.where(there >= 0, returned.ranks[:, there], 0)
    assert held.ranks[:, at].tolist() == expected.tolist()
    assert (expected[0] > 0).any() and (expected[0] == 0).any()
    about = json.loads((artifact_path(run.artifact) / "run.json").read_text())
    assert (about["depth"], sorted(about["sha256"])) == (
        run.depth,
        ["asked.parquet", "ranks.parquet", "returned.parquet", "topk.parquet"],
    )
    assert len(list(artifact_path("runs").iterdir())) == Run.objects.count()  # the old folder is gone
    before = Run.objects.get(pk=run.pk).artifact
    assert score_for_pool(run.system, second, progress_of(second)).artifact == before  # nothing is missing


def keys_of(pool: Pool) -> np.ndarray:
    """Row keys that an evaluation of the pool reads, without known answers."""
    graph = open_graph(pool.graph)
    wanted = row_keys(rows_of(wanted_triples(pool, graph)), graph.num_entities, graph.num_relations)
    known = row_keys(rows_of(np.concatenate([graph.train, graph.valid])), graph.num_entities, graph.num_relations)
    return np.setdiff1d(wanted, known)


@pytest.fixture
def exported_seeds(trained: Graph, tmp_path: Path) -> Path:
    """What transe returned first for the questions of the test set."""
    pool = make_pool(trained, "all", sample=1.0)
    lines = whole(get_run(trained, "transe"))
    path = write(tmp_path / "theirs", *(text for text in lines if int(text.split()[3]) <= 8))
    pool.delete()
    return write(tmp_path / "theirs", *_topics_only(trained, path.read_text().splitlines()))


def _topics_only(graph: Graph, lines: list[str]) -> list[str]:
    topics = {q for h, r, t in TEST for q in (question_id(0, h, r), question_id(1, t, r))}
    return [text for text in lines if text.split()[0] in topics]


def test_an_imported_run_is_pooled_as_deep_as_it_goes(trained: Graph, exported_seeds: Path):
    system = import_run(trained, exported_seeds, name="theirs", family="rules").system
    depth = system.run.depth
    pool = create_pool(trained, name="deep", systems=["theirs"], depth=depth + 1, sample=0.5)
    progress = progress_of(pool)
    build_pool(pool, progress)
    progress.job.refresh_from_db()
    assert f"theirs was imported with {depth} candidates of a question at most: it gives these" in progress.job.log
    assert pool.triples.order_by("-depth").values_list("depth", flat=True).first() == depth
    theirs = make_pool(trained, "theirs", systems=["theirs"], depth=5)
    ours = make_pool(trained, "ours", systems=["transe"], depth=5)

    def contents(pool: Pool) -> list[tuple[object, ...]]:
        rows = pool.triples.order_by("head", "relation", "tail")
        return [
            (*row[:4], bytes(row[4])) for row in rows.values_list("head", "relation", "tail", "depth", "provenance")
        ]

    assert contents(theirs) == contents(ours)
    assert {family: found["systems"] for family, found in pool_families(theirs).items()} == {"rules": ["theirs"]}
    build_pool(theirs, progress_of(theirs))  # twice is once


def test_deep_imported_runs_make_deep_pools(town: Graph, tmp_path: Path):
    """Deeper than the 100 candidates of a trained system."""
    system = System.objects.create(graph=town, name="deep", kind="imported", state="trained", settings={})
    Run.objects.create(system=system, artifact="runs/x", sha256="0", depth=150)
    make_system(town, "transe")
    assert create_pool(town, name="p", systems=["deep"], depth=150, sample=0.5).depth == 150
    with pytest.raises(PoolError) as caught:
        create_pool(town, name="q", systems=["deep", "transe"], depth=101, sample=0.5)
    assert str(caught.value) == "Depth 101: a run holds the first 100 candidates of a question; give 1 to 100."


def test_imported_runs_are_used_where_they_are_named(pool: Pool, exported: Path, tmp_path: Path):
    graph = pool.graph
    import_run(graph, exported, name="again")
    assert [s.name for s in get_systems(graph, None)] == ["transe", "distmult", "complex"]
    assert [s.name for s in get_systems(graph, ["again"])] == ["again"]
    unseeded = {q for h, r, t in TEST for q in (question_id(0, h, r), question_id(1, t, r))}
    names = open_graph(graph)
    for h, r, t in pool.seeds.values_list("head", "relation", "tail"):
        unseeded -= {
            question_id(0, names.entities[h], names.relations[r]),
            question_id(1, names.entities[t], names.relations[r]),
        }
    other = sorted(unseeded)[0]
    path = write(tmp_path / "other", line(other, unknown_of(graph, other)[0], 1, 1))
    import_run(graph, path, name="other")
    assert [s.name for s in imported_for(pool)] == ["again"]
    System.objects.filter(name="again").update(archived=True)
    assert imported_for(pool) == []


def test_topics_of_a_pool_are_its_own(trained: Graph, tmp_path: Path):
    """A question that another pool's triple opened is a topic of the graph, and none of this pool."""
    shallow = make_pool(trained, "shallow", depth=1, sample=0.1)
    deep = make_pool(trained, "deep", depth=8, sample=1.0)
    graph = open_graph(trained)
    own, others = (module._question_keys(wanted_triples(p, graph), graph) for p in (shallow, deep))
    only = np.setdiff1d(others, own)[-1]
    every = whole(get_run(trained, "transe"))
    lines = [text for text in every if parse_question_id(text.split()[0], graph) == only]
    path = write(tmp_path / "run", *lines[:1])
    question = lines[0].split()[0]
    with pytest.raises(TrecError) as caught:
        import_run(trained, path, name="x", pool=shallow)
    assert str(caught.value).startswith(f"run:1: question {question!r} ")
    assert "the topics of pool shallow" in str(caught.value)
    assert import_run(trained, path, name="x").system.run.num_questions == 1
    assert import_run(trained, path, name="y", pool=deep).system.run.num_questions == 1


# -- what an imported system is not -----------------------------------------------------------------------------


def test_what_needs_a_model_is_refused(pool: Pool, exported: Path):
    system = import_run(pool.graph, exported, name="again").system
    reason = (
        "again was imported as a run and its model is not here, so it cannot be trained. "
        "Import another run under another name instead."
    )
    with pytest.raises(SystemError_) as caught:
        train_anew(system, seed=1, overrides={}, device="cpu", user=None)
    assert str(caught.value) == reason
    System.objects.filter(pk=system.pk).update(name="rotate")
    with pytest.raises(SystemError_) as caught:
        create_systems(pool.graph, ["rotate"], {})
    assert str(caught.value) == reason.replace("again", "rotate")
    with pytest.raises(SystemFileError) as refused:
        open_file(system, "weights.safetensors")
    assert str(refused.value) == "again was imported as a run: its weights are not here."
    assert not has_files(system)
    Run.objects.filter(system=system).delete()
    with pytest.raises(RunError) as gone:
        score_for_pool(System.objects.get(pk=system.pk), pool, progress_of(pool))
    assert str(gone.value) == "The run of town/rotate is gone: import its file anew under another name."


def test_a_run_that_is_not_there_cannot_be_exported(pool: Pool):
    with pytest.raises(RunError) as caught:
        get_run(pool.graph, "rotate")
    assert str(caught.value) == "Graph town has no run of a system 'rotate'. Runs: transe, distmult, complex."
