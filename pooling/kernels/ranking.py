"""Rank wanted answers and collect candidates, for many questions, in one pass over the scores.

A question is one side of a triple masked: `(h, r, ?)`, side 0, or `(?, r, t)`, side 1. Its candidates are all
entities but the masked (known) ones. Ranks are positions among the candidates, from 1:

- optimistic: 1 + candidates with a higher score; pessimistic: candidates with an equal or higher score;
- strict: ties are broken by one seeded random permutation of the entities, never by id.

The score of the wanted answer is read from the very row it is compared with: from another
kernel it would differ in the last bits, and ties would be missed (LibKGE issues 221 and 242).
Source: Berrendorf et al. (2020), On the ambiguity of rank-based evaluation of entity alignment or link
prediction methods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import torch

from pooling.kernels.questions import (
    Csr,
    Questions,
    answers_csr,
    name_of,
    questions_of,
    without,
)
from pooling.kernels.scorer import Scores

# Scores held at once, in floats: 256 rows of FB15k-237; fewer rows where there are more entities.
BUFFER_FLOATS = 1 << 26
# Floats of gathered rows while counting: small enough to stay in the cache of a CPU core.
COUNT_FLOATS_CPU, COUNT_FLOATS_GPU = 1 << 18, 1 << 27


class Scored(NamedTuple):
    """Result of a pass: n questions × K candidates; three ranks for each of w wanted pairs (CSR order)."""

    top_entity: np.ndarray  # int32 [n, K], -1 where there are fewer candidates
    top_score: np.ndarray  # float32 [n, K], -inf there
    strict: np.ndarray  # int32 [w]
    optimistic: np.ndarray  # int32 [w]
    pessimistic: np.ndarray  # int32 [w]


class Ranks(NamedTuple):
    """Ranks of m triples, each int32[2m]: all their tail questions, then all their head questions."""

    strict: np.ndarray
    optimistic: np.ndarray
    pessimistic: np.ndarray

    @property
    def realistic(self) -> np.ndarray:
        """Mean of the optimistic and the pessimistic rank, float64[2m]."""
        return (self.optimistic.astype(np.float64) + self.pessimistic) / 2

    @property
    def mrr(self) -> float:
        """Mean reciprocal realistic rank over both sides of all triples."""
        return float(np.mean(1.0 / self.realistic))


def tie_order(num_entities: int, seed: int) -> np.ndarray:
    """Return the permutation int64[E] that breaks ties: of equal scores, the entity that comes first wins."""
    return np.random.default_rng(seed).permutation(num_entities)


def score_questions(
    scorer: Scores,
    questions: Questions,
    *,
    masked: Csr,
    top_masked: Csr,
    wanted: Csr,
    top_k: int = 100,
    seed: int,
    batch_size: int = 256,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Scored:
    """Score every question once; return its first `top_k` candidates and the ranks of its wanted answers.

    `masked` entities are no candidates at all (train ∪ valid answers); `top_masked` ones (test answers) count
    in ranks but are kept out of the top list. `seed` is of the tie permutation. `progress(done, total)` is
    called after every batch. A pass that `should_stop` ends raises InterruptedError.
    ValueError: a wanted entity is masked, or a score is not finite; the message names the question.
    """
    total, num_entities = len(questions.side), scorer.num_entities
    order = tie_order(num_entities, seed)
    column = np.empty(num_entities, dtype=np.int64)
    column[order] = np.arange(num_entities)
    scores_of = scorer.in_order(order)
    width = min(top_k, num_entities)
    result = Scored(
        np.full((total, top_k), -1, np.int32),
        np.full((total, top_k), -np.inf, np.float32),
        *(np.empty(len(wanted.indices), np.int32) for _ in range(3)),
    )
    batch_size = max(1, min(batch_size, BUFFER_FLOATS // max(num_entities, 1), total))
    buffer = torch.empty((batch_size, num_entities), device=scorer.device)
    for start in range(0, total, batch_size):
        if should_stop is not None and should_stop():
            raise InterruptedError(f"scoring was stopped after {start} of {total} questions")
        stop = min(start + batch_size, total)
        part = Questions(*(x[start:stop] for x in questions))
        scores = scores_of(*part, out=buffer[: stop - start])
        _check_finite(scores, part)
        _mask(scores, masked, column, start, stop)
        _count(scores, wanted, column, start, stop, questions, result)
        if width:
            _mask(scores, top_masked, column, start, stop)
            values, columns = (x.cpu().numpy() for x in _top(scores, width))
            result.top_score[start:stop, :width] = values
            result.top_entity[start:stop, :width] = np.where(np.isfinite(values), order[columns], -1)
        if progress is not None:
            progress(stop, total)
    return result


def _check_finite(scores: torch.Tensor, questions: Questions) -> None:
    """Fail on NaN or infinite scores: they would pass as good ranks (PyKEEN turns NaN into an MRR of 2)."""
    suspect = ~torch.isfinite(scores.sum(1))  # one read of the rows; a sum that overflows is looked at again
    if suspect.any():
        for i in suspect.nonzero().flatten().tolist():
            if not torch.isfinite(scores[i]).all():
                raise ValueError(f"the scores of the {name_of(questions, i)} are not finite")


def _pairs(csr: Csr, column: np.ndarray, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """Row within the batch and column of every entity that questions start..stop list."""
    indptr = csr.indptr[start : stop + 1]
    rows = np.repeat(np.arange(stop - start), np.diff(indptr))
    return rows, column[csr.indices[indptr[0] : indptr[-1]]]


def _mask(scores: torch.Tensor, csr: Csr, column: np.ndarray, start: int, stop: int) -> None:
    rows, columns = _pairs(csr, column, start, stop)
    flat = torch.as_tensor(rows * scores.shape[1] + columns, device=scores.device)
    scores.view(-1).index_fill_(0, flat, -torch.inf)


def _count(
    scores: torch.Tensor,
    wanted: Csr,
    column: np.ndarray,
    start: int,
    stop: int,
    questions: Questions,
    result: Scored,
) -> None:
    """Write the ranks of the wanted pairs of this batch into `result`."""
    rows, columns = _pairs(wanted, column, start, stop)
    first = int(wanted.indptr[start])
    limit = COUNT_FLOATS_CPU if scores.device.type == "cpu" else COUNT_FLOATS_GPU
    step = max(1, limit // scores.shape[1])
    for begin in range(0, len(rows), step):
        row = torch.as_tensor(rows[begin : begin + step], device=scores.device)
        place = torch.as_tensor(columns[begin : begin + step], device=scores.device)
        lines = scores.index_select(0, row)  # [w, E]
        own = lines.gather(1, place[:, None])  # [w, 1]
        if torch.isinf(own).any():
            bad = begin + int(torch.isinf(own).flatten().nonzero()[0])
            entity = wanted.indices[first + bad]
            where = name_of(questions, start + int(rows[bad]))
            raise ValueError(f"entity {entity} is wanted and masked in the {where}")
        # Compare into floats and sum them: on a CPU, summing booleans is 5 to 20 times slower.
        hits = torch.empty_like(lines)
        above = torch.gt(lines, own, out=hits).sum(1)
        at_least = torch.ge(lines, own, out=hits).sum(1)
        strict = above + 1
        for i in (at_least > strict).nonzero().flatten().tolist():
            strict[i] += (lines[i, : place[i]] == own[i]).sum()
        out = slice(first + begin, first + begin + len(row))
        result.strict[out] = strict.cpu().numpy()
        result.optimistic[out] = (above + 1).cpu().numpy()
        result.pessimistic[out] = at_least.cpu().numpy()


def _top(scores: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return values and columns of the k best of each row, equal scores in column order.

    torch.topk promises no order among equals, neither inside the list nor at its end: rows with ties are redone.
    """
    # One more than asked for shows whether the tie reaches over the end.
    values, columns = torch.topk(scores, min(k + 1, scores.shape[1]), dim=1)
    tied = (values[:, 1:] == values[:, :-1]) & torch.isfinite(values[:, 1:])
    rows = tied.any(1).nonzero().flatten()
    values, columns = values[:, :k].contiguous(), columns[:, :k].contiguous()
    # Few rows at a time: the sort holds a copy of them and their int64 columns.
    for part in rows.split(max(1, BUFFER_FLOATS // 8 // scores.shape[1])):
        value, place = torch.sort(scores[part], dim=1, descending=True, stable=True)
        values[part], columns[part] = value[:, :k], place[:, :k]
    return values, columns


def rank_of_triples(
    scorer: Scores,
    triples: np.ndarray,
    *filters: np.ndarray,
    num_relations: int,
    seed: int = 0,
    batch_size: int = 256,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Ranks:
    """Return the filtered ranks of both sides of triples int[m, 3].

    Other answers that `filters` (int[·, 3] each) and the triples themselves hold for a question do not count.
    """
    triples = np.asarray(triples).reshape(-1, 3)
    num_entities = scorer.num_entities
    questions, tail_q, head_q = questions_of(triples)
    wanted = answers_csr(questions, triples, num_entities, num_relations)
    known = answers_csr(questions, np.concatenate([triples, *filters]), num_entities, num_relations)
    empty = Csr(np.zeros(len(questions.side) + 1, np.int64), np.zeros(0, np.int32))
    scored = score_questions(
        scorer,
        questions,
        masked=without(known, wanted, num_entities),
        top_masked=empty,
        wanted=wanted,
        top_k=0,
        seed=seed,
        batch_size=batch_size,
        progress=progress,
        should_stop=should_stop,
    )
    row = np.repeat(np.arange(len(questions.side)), np.diff(wanted.indptr))
    # Where each triple's two (question, answer) pairs stand among the wanted ones, which ascend.
    pair = np.concatenate([tail_q * num_entities + triples[:, 2], head_q * num_entities + triples[:, 0]])
    place = np.searchsorted(row * num_entities + wanted.indices, pair)
    # Answers of one question are not counted against each other: take off those that stand above.
    return Ranks(
        (scored.strict - _before(row, scored.strict, "left"))[place],
        (scored.optimistic - _before(row, scored.optimistic, "left"))[place],
        (scored.pessimistic - _before(row, scored.pessimistic, "right") + 1)[place],
    )


def _before(row: np.ndarray, rank: np.ndarray, side: Literal["left", "right"]) -> np.ndarray:
    """How many of the same row have a smaller rank ("left"), or an equal or smaller one ("right")."""
    key = row.astype(np.int64) << 32 | rank.astype(np.int64)
    ordered = np.sort(key)
    start = np.searchsorted(ordered, row.astype(np.int64) << 32)
    return (np.searchsorted(ordered, key, side) - start).astype(np.int32)
