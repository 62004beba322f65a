"""Scores with ties for the systems of the town, their full lists, TREC files of them, and runs of older days."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import torch

from core.files.artifacts import artifact_path, sha256_of
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, Run
from pooling.pools.seeds import seed_array
from pooling.questions.kernel import distinct_questions
from pooling.runs.files import question_id
from pooling.runs.score import TIE_SEED
from pooling.runs.trec_write import trec_word
from pooling.scoring.ranks import tie_order

Question = tuple[int, int, int]


class TiedScores:
    """Scores 0, 1 and 2 from a table [2, R, E, E]: side, relation, given entity, candidate."""

    device, label = torch.device("cpu"), "tied"

    def __init__(self, graph: Graph, seed: int) -> None:
        e, r = graph.num_entities, graph.num_relations
        self.num_entities = e
        self.table = torch.tensor(np.random.default_rng(seed).integers(0, 3, (2, r, e, e)), dtype=torch.float32)

    def in_order(self, order):
        columns = torch.as_tensor(order)

        def scores(side, entity, relation, out):
            index = (torch.as_tensor(np.asarray(x)).long() for x in (side, relation, entity))
            return out.copy_(self.table[tuple(index)][:, columns])

        return scores


def known_answers(graph: Graph) -> dict[Question, set[int]]:
    arrays, known = open_graph(graph), {}
    for h, r, t in np.concatenate([arrays.train, arrays.valid, arrays.test]).tolist():
        known.setdefault((0, r, h), set()).add(t)
        known.setdefault((1, r, t), set()).add(h)
    return known


def full_list(scores: TiedScores, question: Question) -> list[int]:
    """Every entity, best first; ties by the permutation of all runs."""
    side, relation, given = question
    place = np.argsort(tie_order(scores.num_entities, TIE_SEED))
    row = scores.table[side, relation, given].tolist()
    return sorted(range(len(row)), key=lambda e: (-row[e], place[e]))


def make_old(run: Run) -> None:
    """Turn a run into one of the time before raw positions were kept."""
    folder = artifact_path(run.artifact)
    table = pq.read_table(folder / "topk.parquet").drop_columns(["raw_rank"])
    pq.write_table(table, folder / "topk.parquet")
    about = json.loads((folder / "run.json").read_text())
    about["sha256"]["topk.parquet"] = sha256_of(folder / "topk.parquet")
    (folder / "run.json").write_text(json.dumps(about))
    Run.objects.filter(pk=run.pk).update(sha256=sha256_of(folder / "run.json"))


def write_lists(path: Path, pool: Pool, scores: TiedScores, *, full: bool, first: int = 40) -> Path:
    """A TREC file of the questions of the pool's seeds, with or without the answers that any split knows."""
    graph, known, lines = open_graph(pool.graph), known_answers(pool.graph), []
    for side, given, relation in zip(*(x.tolist() for x in distinct_questions(seed_array(pool))), strict=True):
        asked = question_id(side, graph.entities[given], graph.relations[relation])
        row = scores.table[side, relation, given].tolist()
        for rank, entity in enumerate(full_list(scores, (side, relation, given))[:first], 1):
            if full or entity not in known[side, relation, given]:
                lines.append(f"{asked} Q0 {trec_word(graph.entities[entity])} {rank} {row[entity]} them\n")
    path.write_text("".join(lines))
    return path
