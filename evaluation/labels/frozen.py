"""Keep what frozen qrels know of each triple: its state and its origin, the systems that found it, its labels.

All of it is written when they are frozen, so that an export of later says the same, whatever has been labelled,
withdrawn or pooled in the meantime. Labels are append-only: their ids are enough.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from annotation.enums import JudgementOrigin, Verdict
from annotation.judging.judgements import live_labels, taken_back
from annotation.models import Campaign, ImportedLabel
from annotation.models.slot import ADJUDICATION
from annotation.simulation.simulate import simulated_labels
from core.files.parquet import numbers, read_parquet
from evaluation.labels.pool_table import triple_codes
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.pools.kernels.filters import REASONS
from pooling.pools.kernels.gathering import PROVENANCE
from pooling.pools.rows import read_rows
from pooling.scoring.rank_rows import find

# how a triple came to its state; "undecided": people, or imported labels, came to no answer
SETTLED = ("open", "seed", "filtered", "agreed", "adjudicated", "imported", "undecided")


class Ragged(NamedTuple):
    """Hold several values per triple: those of triple i are values[indptr[i]:indptr[i + 1]]."""

    values: np.ndarray
    indptr: np.ndarray  # int64[n + 1]

    def of(self, triple: int) -> np.ndarray:
        return self.values[self.indptr[triple] : self.indptr[triple + 1]]

    def keep(self, kept: np.ndarray) -> Ragged:
        """Keep some triples, bool[n]."""
        lengths = np.diff(self.indptr)
        return Ragged(self.values[np.repeat(kept, lengths)], _indptr(lengths[kept]))

    @property
    def triple(self) -> np.ndarray:
        """Return the triple of each value, int64."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))


class Frozen(NamedTuple):
    """Hold n triples, seeds first: int32[n, 3]; state int8[n]; settled, reason int8[n], indices into SETTLED
    and REASONS; depth int32[n], 0 where no system found it; findings: PROVENANCE records; labels, imported: ids of
    Label and ImportedLabel, ascending within a triple. `about`: the pool as it was. `words`: of an imported test set,
    the lines of its questions.tsv for each triple, without the triple, str[n]; None for others."""

    triples: np.ndarray
    state: np.ndarray
    settled: np.ndarray
    reason: np.ndarray
    depth: np.ndarray
    findings: Ragged
    labels: Ragged
    imported: Ragged
    about: dict[str, Any]
    words: np.ndarray | None = None

    def keep(self, kept: np.ndarray) -> Frozen:
        """Keep some triples, bool[n]."""
        return Frozen(
            self.triples[kept],
            self.state[kept],
            self.settled[kept],
            self.reason[kept],
            self.depth[kept],
            self.findings.keep(kept),
            self.labels.keep(kept),
            self.imported.keep(kept),
            self.about,
            None if self.words is None else self.words[kept],
        )


def facts(pool: Pool, triples: np.ndarray, state: np.ndarray) -> Frozen:
    """Collect what is known now of triples int32[n, 3], seeds and pooled ones, with states int8[n]."""
    graph = open_graph(pool.graph)
    codes = triple_codes(triples, graph)
    order = np.argsort(codes)
    ids, gathered, why = read_rows(pool)
    place = find(codes[order], triple_codes(gathered.triples, graph))
    found = place >= 0  # a pool that has grown holds more than older qrels
    at = order[place[found]]
    depth, reason = np.zeros(len(triples), np.int32), np.zeros(len(triples), np.int8)
    depth[at] = gathered.depth[found]
    reason[at] = [REASONS.index(one) for one in why[found]]
    settled = np.zeros(len(triples), np.int8)
    settled[reason > 0] = SETTLED.index("filtered")
    seeds = np.array(pool.seeds.values_list("head", "relation", "tail"), dtype=np.int32).reshape(-1, 3)
    settled[np.isin(codes, triple_codes(seeds, graph))] = SETTLED.index("seed")
    of_id = dict(zip(ids[found].tolist(), at.tolist(), strict=True))
    _judged(pool, of_id, settled)
    findings = Ragged(gathered.findings, gathered.indptr).keep(found)
    return Frozen(
        triples,
        state,
        settled,
        reason,
        depth,
        _ragged(len(triples), at[findings.triple], findings.values),
        _by_triple(
            len(triples),
            of_id,
            live_labels().filter(item__campaign__pool=pool).order_by("pk").values_list("item__triple_id", "pk"),
        ),
        _by_triple(
            len(triples),
            of_id,
            ImportedLabel.objects.filter(triple__pool=pool).order_by("pk").values_list("triple_id", "pk"),
        ),
        about_pool(pool),
    )


def _judged(pool: Pool, of_id: dict[int, int], settled: np.ndarray) -> None:
    """Write how the triples that have a judgement came to it."""
    adjudicated = adjudicated_triples(pool)
    holding = pool.judgements.exclude(pk__in=taken_back(pool).values("pk"))
    rows = holding.order_by().values_list("triple_id", "verdict", "origin")
    for triple, verdict, origin in rows.iterator(chunk_size=5000):
        if triple in of_id:
            settled[of_id[triple]] = SETTLED.index(how_settled(verdict, origin, triple in adjudicated))


def how_settled(verdict: str, origin: str, is_adjudicated: bool) -> str:
    """Return how a triple came to its judgement, a word of SETTLED."""
    if verdict == Verdict.UNDECIDED:
        return "undecided"
    if origin == JudgementOrigin.IMPORT:
        return "imported"
    return "adjudicated" if is_adjudicated else "agreed"


def adjudicated_triples(pool: Pool, among: Iterable[int] | None = None) -> set[int]:
    """Return the ids of the pool's triples on which an adjudicator's answer counts: of all, or of those in `among`."""
    third = live_labels().filter(item__campaign__pool=pool, slot__number=ADJUDICATION)
    if among is not None:
        third = third.filter(item__triple__in=list(among))
    return set(third.values_list("item__triple_id", flat=True))


def about_pool(pool: Pool) -> dict[str, Any]:
    rules = Campaign.objects.filter(pool=pool).values("evidence_rule", "order").first()
    return {
        "contributors": list(pool.contributors),
        "depth": pool.depth,
        "rule": pool.rule,
        "filters": list(pool.filters),
        "seed_source": pool.seed_source,
        "rules": rules,
        "simulated": simulated_labels(pool),
    }


def _by_triple(n: int, of_id: dict[int, int], rows: Any) -> Ragged:
    pairs = [(of_id[triple], pk) for triple, pk in rows.iterator(chunk_size=5000) if triple in of_id]
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return _ragged(n, columns[:, 0], columns[:, 1])


def _ragged(n: int, triple: np.ndarray, values: np.ndarray) -> Ragged:
    """Group values by triple, in their order."""
    order = np.argsort(triple, kind="stable")
    return Ragged(values[order], _indptr(np.bincount(triple, minlength=n)))


def _indptr(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


# -- as a file ---------------------------------------------------------------------------------------------------


def frozen_table(frozen: Frozen) -> pa.Table:
    """Return the columns that frozen qrels add to those of every qrels file (qrels.py)."""
    table = pa.table(
        {
            "settled": _named(frozen.settled, SETTLED),
            "reason": _named(frozen.reason, REASONS),
            "depth": frozen.depth,
            "findings": _lists(Ragged(frozen.findings.values.view("<u4"), frozen.findings.indptr)),
            "labels": _lists(frozen.labels),
            "imported": _lists(frozen.imported),
        }
    )
    if frozen.words is not None:
        table = table.append_column("words", pa.array(frozen.words, pa.large_string()))
    return table.replace_schema_metadata({"pool": json.dumps(frozen.about)})


def frozen_of(path: Path, triples: np.ndarray, state: np.ndarray) -> Frozen:
    """Read `Frozen` back from the columns of a qrels file."""
    findings = _arrays(column_of(path, "findings"))
    schema = pq.read_schema(path)
    return Frozen(
        triples,
        state,
        indices(column_of(path, "settled"), _index(SETTLED)),
        indices(column_of(path, "reason"), _index(REASONS)),
        numbers(column_of(path, "depth")),
        findings._replace(values=findings.values.astype("<u4", copy=False).view(PROVENANCE)),
        _arrays(column_of(path, "labels")),
        _arrays(column_of(path, "imported")),
        json.loads(schema.metadata[b"pool"]),
        column_of(path, "words").to_numpy() if "words" in schema.names else None,
    )


def column_of(path: Path, name: str) -> pa.ChunkedArray:
    """Read one column; columns read one after the other need the memory of one."""
    words = ["state", "settled", "reason"]  # as numbers of a few distinct ones
    return read_parquet(path, [name], coded=words, threads=False)[name]


def _index(names: Iterable[str]) -> dict[str, int]:
    return {name: i for i, name in enumerate(names)}


def _named(index: np.ndarray, names: Iterable[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(index, list(names)).cast(pa.string())


def indices(column: pa.ChunkedArray, values: dict[str, Any]) -> np.ndarray:
    """Return the number of each text, int8[n], without a Python object per row."""
    words = column.combine_chunks().dictionary_encode()
    coded = np.array([int(values[word]) for word in words.dictionary.to_pylist()], dtype=np.int8)
    return coded[numbers(words.indices)] if len(coded) else np.zeros(0, np.int8)


def _lists(ragged: Ragged) -> pa.Array:
    return pa.LargeListArray.from_arrays(ragged.indptr, ragged.values)


def _arrays(column: pa.ChunkedArray) -> Ragged:
    lists = column.combine_chunks()
    return Ragged(numbers(lists.flatten()), numbers(lists.offsets).astype(np.int64, copy=False))
