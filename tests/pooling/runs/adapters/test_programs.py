"""LibKGE's trace and SimKGC's predictions: small files of exactly their form, and what becomes of their ranks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from pooling.graphs.opening import open_graph
from pooling.models import Graph
from pooling.runs.adapters.base import positions_of
from pooling.runs.imports import import_run
from pooling.runs.trec_read import TrecError
from tests.factories import PEOPLE
from tests.factories import town as town_rows
from tests.pooling.runs.adapters.conftest import (
    HEAD,
    HEAD_QUESTION,
    RELATION,
    TAIL,
    TAIL_QUESTION,
    Lists,
    candidates,
    rank,
    write,
)


def refusal(graph: Graph, path: Path) -> str:
    with pytest.raises(TrecError) as caught:
        import_run(graph, path, name="x")
    return str(caught.value)


def test_positions_follow_from_filtered_ranks():
    # one question: answers of filtered rank 1, 3, 3; candidates 1, 2, 3 that are no answers; and a lone answer
    answer = np.array([True, True, True, False, False, False, True])
    question = np.array([5, 5, 5, 5, 5, 5, 2])
    given = np.array([1, 3, 3, 1, 2, 3, 8])
    # a1 n1 n2 a3 a3 n3
    assert positions_of(answer, question, given).tolist() == [1, 4, 5, 2, 3, 6, 8]


# -- LibKGE -----------------------------------------------------------------------------------------------------

ENTRY = (
    "{{batch: 0, batches: 1, data: test, entry_id: 8c8e0b1c, epoch: 20, event: example_rank, filter_splits: [train, "
    "valid{more}], job: eval, job_id: {job}, o: {o}, p: {p}, parent_job_id: 5a1c, rank: {raw}, rank_filtered: {rank}, "
    "{extra}s: {s}, scope: example, size: 2, split: {split}, task: {task}, timestamp: 1590000000.5, type: "
    "entity_ranking}}\n"
)


def libkge_folder(graph: Graph, folder: Path, *ranks: tuple[int, int], **fields: str) -> Path:
    """A trace with the ranks of (tail, head) for each of the first test triples, and files of ids in another order."""
    arrays = open_graph(graph)
    entities, relations = arrays.entities[::-1], arrays.relations[::-1]
    write(folder / "entity_ids.del", "".join(f"{i}\t{key}\n" for i, key in enumerate(entities)))
    write(folder / "relation_ids.del", "".join(f"{i}\t{key}\n" for i, key in enumerate(relations)))
    usual = {"more": "", "extra": "rank_filtered_with_test: {rank}, ", "job": "11aa", "split": "test"} | fields
    text = "{avg_loss: 0.2, epoch: 20, job: train, job_id: 5a1c, scope: epoch, type: train}\n"
    for (h, r, t), of in zip(town_rows()["test"], ranks, strict=False):
        ids = {"s": entities.index(h), "p": relations.index(r), "o": entities.index(t)}
        for task, filtered in zip(("sp", "po"), of, strict=True):
            extra = usual["extra"].format(rank=filtered)
            text += ENTRY.format(**(usual | {"extra": extra}), **ids, task=task, rank=99, raw=99)
    write(folder / "trace.yaml", text)
    return folder


def test_ranks_of_one_question_do_not_contradict_those_of_the_next(town: Graph, tmp_path: Path):
    """Most questions have one answer in the trace, so the next line is of another question, with any rank."""
    ranks = [(20 - i, 20 - i) for i in range(10)]
    imported = import_run(town, libkge_folder(town, tmp_path / "kge", *ranks), name="folder")
    assert not [note for note in imported.notes if "contradict" in note]


def test_ranks_of_a_libkge_trace_are_those_of_the_test_answers(town: Graph, tmp_path: Path):
    folder = libkge_folder(town, tmp_path / "kge", (7, 3))
    run = import_run(town, folder, name="folder").system.run
    assert (rank(run, TAIL_QUESTION, TAIL), rank(run, HEAD_QUESTION, HEAD)) == ([7] * 3, [3] * 3)
    assert (run.depth, run.num_questions) == (0, 0)
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", folder)
    again = import_run(town, Path(packed), name="packed", max_bytes=1_000_000)
    assert rank(again.system.run, TAIL_QUESTION, TAIL) == [7] * 3
    assert any("ranks of test answers and no candidates" in note for note in again.notes)


def test_the_last_evaluation_on_test_counts(town: Graph, tmp_path: Path):
    folder = libkge_folder(town, tmp_path / "kge", (7, 3))
    first = (folder / "trace.yaml").read_text()
    libkge_folder(town, folder, (5, 2), job="22bb")
    valid = libkge_folder(town, tmp_path / "valid", (1, 1), split="valid") / "trace.yaml"
    write(folder / "trace.yaml", first + (folder / "trace.yaml").read_text() + valid.read_text())
    assert rank(import_run(town, folder, name="x").system.run, TAIL_QUESTION, TAIL) == [5] * 3


def test_a_libkge_trace_that_cannot_be_read_says_what_to_do(town: Graph, tmp_path: Path):
    folder = libkge_folder(town, tmp_path / "kge", (7, 3), extra="")
    assert "Evaluate with `--entity_ranking.filter_with_test true`" in refusal(town, folder)
    libkge_folder(town, folder, (7, 3), split="valid")
    assert "has no ranks of test examples. Write them with `kge test FOLDER" in refusal(town, folder)
    libkge_folder(town, folder, (7, 3))
    write(folder / "entity_ids.del", "0\tnobody\n")
    assert "is in no id file" in refusal(town, folder)
    write(folder / "entity_ids.del", "99999999\tnobody\n")  # an array of that many ids would be 800 MB
    assert "has number 99,999,999 and 1 lines" in refusal(town, folder)
    for number in ("²", "1_0", "99999999999"):
        write(folder / "entity_ids.del", f"{number}\tnobody\n")
        assert "has a line that is not `number TAB key`" in refusal(town, folder)
    libkge_folder(town, folder, ("1_0", 3))
    assert "has a line without s, p, o, task or rank_filtered" in refusal(town, folder)
    (folder / "relation_ids.del").unlink()
    assert "lacks relation_ids.del" in refusal(town, folder)


# -- SimKGC -----------------------------------------------------------------------------------------------------


def simkgc_folder(graph: Graph, folder: Path, tails: list[str], heads: list[str], rank: int | None) -> Path:
    """Predictions of evaluate.py for the first test triple in both directions, with entities.json."""
    names = {key: f"name of {key}" for key in open_graph(graph).entities}

    def entry(head: str, relation: str, tail: str, given: list[str]) -> dict:
        scores = {names[key]: round(0.9 - 0.1 * place, 3) for place, key in enumerate(given)}
        scores[names[PEOPLE[19]]] = -1.0  # a masked one
        first = next(iter(scores))
        made = {
            "head": names[head],
            "relation": relation,
            "tail": names[tail],
            "pred_tail": first,
            "pred_score": 0.9,
            "topk_score_info": json.dumps(scores),
        }
        return made | ({} if rank is None else {"rank": rank}) | {"correct": first == names[tail]}

    forward, backward = entry(HEAD, RELATION, TAIL, tails), entry(TAIL, f"inverse {RELATION}", HEAD, heads)
    folder.mkdir(exist_ok=True)
    (folder / "eval_test.txt.json_forward_best.mdl.json").write_text(json.dumps([forward], indent=4))
    (folder / "eval_test.txt.json_backward_best.mdl.json").write_text(json.dumps([backward], indent=4))
    entities = [{"entity_id": key, "entity": name, "entity_desc": ""} for key, name in names.items()]
    (folder / "entities.json").write_text(json.dumps(entities))
    (folder / "relations.json").write_text(json.dumps({key: key for key in open_graph(graph).relations}))
    return folder


def test_lists_and_ranks_of_simkgc(town: Graph, lists: Lists, tmp_path: Path):
    folder = simkgc_folder(town, tmp_path / "sim", lists.tails[:3], lists.heads[:3], 17)
    imported = import_run(town, Path(shutil.make_archive(str(tmp_path / "sim"), "zip", folder)), name="x")
    run = imported.system.run
    assert (candidates(run, TAIL_QUESTION), candidates(run, HEAD_QUESTION)) == (lists.tails[:3], lists.heads[:3])
    assert (rank(run, TAIL_QUESTION, TAIL), rank(run, HEAD_QUESTION, HEAD)) == ([17] * 3, [17] * 3)


def test_older_files_of_simkgc_have_no_ranks(town: Graph, lists: Lists, tmp_path: Path):
    folder = simkgc_folder(town, tmp_path / "sim", [lists.tails[0], TAIL, lists.tails[1]], lists.heads[:3], None)
    run = import_run(town, folder, name="x").system.run
    assert (candidates(run, TAIL_QUESTION), rank(run, TAIL_QUESTION, TAIL)) == (lists.tails[:2], [2, 2, 2])
    assert rank(run, HEAD_QUESTION, HEAD) == [0, 0, 0]  # not among those that were returned


def test_names_that_nobody_knows_are_told(town: Graph, lists: Lists, tmp_path: Path):
    folder = simkgc_folder(town, tmp_path / "sim", lists.tails[:3], lists.heads[:3], 17)
    (folder / "entities.json").unlink()
    assert "Put entities.json of SimKGC's data folder beside the predictions" in refusal(town, folder)
    (folder / "relations.json").write_text("{}")
    assert "Put relations.json of SimKGC's data folder" in refusal(town, folder)
    for path in folder.glob("eval_*"):
        path.unlink()
    assert "has no predictions of SimKGC" in refusal(town, folder)
