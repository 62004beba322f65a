"""Read judgements.tsv, pool.tsv and questions.tsv of an exported test set as arrays."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.files.lines import ON_SERVER
from evaluation.labels.frozen import SETTLED
from evaluation.labels.pool_table import EvaluationError
from evaluation.labels.qrels import STATE_NAMES
from evaluation.test_sets.labels import QUESTION_COLUMNS
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.pools.files import Problems, read_pool_file, read_tsv, several, triple_ids
from pooling.pools.kernels.filters import REASONS
from pooling.pools.kernels.gathering import Gathered

HEADER = ["head", "relation", "tail", "state", "settled", "depth", "filter"]
_ADVICE = "Export the test set again. Nothing was imported."
_STATES = {name: int(state) for state, name in STATE_NAMES.items()}


class Judgements(NamedTuple):
    """Hold n triples, seeds first: int32[n, 3]; state int8[n]; settled int8[n], index into SETTLED; filters str[n]."""

    triples: np.ndarray
    state: np.ndarray
    settled: np.ndarray
    reasons: np.ndarray

    @property
    def is_seed(self) -> np.ndarray:
        """Return which triples are seeds, bool[n]."""
        return self.settled == SETTLED.index("seed")


def read_judgement_table(path: Path, graph: GraphArrays) -> Judgements:
    """Read every line of judgements.tsv; EvaluationError names the lines that cannot be."""
    problems = Problems()
    triples: list[tuple[int, int, int]] = []
    columns: list[tuple[int, int, str]] = []
    for number, fields in read_tsv(path, ON_SERVER):
        if number == 1:
            if fields[: len(HEADER)] != HEADER:
                raise EvaluationError(f"{path.name}:1: the columns are not {', '.join(HEADER)}. {_ADVICE}")
            continue
        triple, problem = triple_ids(fields, graph) if len(fields) >= len(HEADER) else (None, "has too few columns")
        if triple is not None:
            _, _, _, state, settled, _, reason, *_ = fields
            for word, known in ((state, _STATES), (settled, SETTLED), (reason, REASONS)):
                if word not in known:
                    problem = f"{word[:40]!r} is not one of {', '.join(filter(None, known))}"
        if problem or triple is None:
            problems.add(f"{path.name}:{number}: {problem}")
            continue
        triples.append(triple)
        columns.append((_STATES[state], SETTLED.index(settled), reason))
    if problems:
        raise EvaluationError(several(problems, _ADVICE))
    found = Judgements(
        np.array(triples, dtype=np.int32).reshape(-1, 3),
        np.array([state for state, _, _ in columns], dtype=np.int8),
        np.array([settled for _, settled, _ in columns], dtype=np.int8),
        np.array([reason for _, _, reason in columns], dtype=object),
    )
    n = int(found.is_seed.sum())
    if not n or not found.is_seed[:n].all():
        raise EvaluationError(f"{path.name} does not begin with the seeds. {_ADVICE}")
    return found


def read_gathered(path: Path, seeds: np.ndarray, graph: GraphArrays, contributors: list[str]) -> Gathered:
    """Read pool.tsv; its findings hold indices into `contributors`, which name more systems than it may."""
    read = read_pool_file(path, seeds, graph, known_too=True, bounds=ON_SERVER)
    if read.report or not set(read.contributors) <= set(contributors):
        raise EvaluationError(f"{path.name} does not fit the graph and seeds of its test set. {_ADVICE}")
    place = np.array([contributors.index(name) for name in read.contributors], dtype=np.uint8)
    findings = read.gathered.findings.copy()
    if len(findings):
        findings["system"] = place[findings["system"]]
    return read.gathered._replace(findings=findings)


def read_words(path: Path, judged: Judgements, graph: GraphArrays) -> np.ndarray:
    """Return the lines of questions.tsv of each triple, without the triple, str[n]; EvaluationError names bad lines."""
    of = {triple: i for i, triple in enumerate(map(tuple, judged.triples.tolist()))}
    words: list[list[str]] = [[] for _ in of]
    problems = Problems()
    for number, fields in read_tsv(path, ON_SERVER):
        if number == 1:
            if tuple(fields) != QUESTION_COLUMNS:
                raise EvaluationError(f"{path.name}:1: the columns are not {', '.join(QUESTION_COLUMNS)}. {_ADVICE}")
            continue
        triple, problem = triple_ids(fields, graph) if len(fields) == len(QUESTION_COLUMNS) else (None, "")
        if triple is None:
            problems.add(f"{path.name}:{number}: {problem or f'has {len(fields)} columns'}")
        elif triple not in of:
            problems.add(f"{path.name}:{number}: its triple is not in judgements.tsv")
        else:
            words[of[triple]].append("\t".join(fields[3:]))
    if problems:
        raise EvaluationError(several(problems, _ADVICE))
    return np.array(["\n".join(lines) for lines in words], dtype=object)
