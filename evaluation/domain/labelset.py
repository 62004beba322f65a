"""Label sets: the labels that an evaluation uses, as one state for each triple of the pool's table."""

import re
from dataclasses import dataclass

import numpy as np

from annotation.domain.judgement import current_verdicts
from annotation.enums import Verdict
from evaluation.domain.table import EvaluationError, PoolTable
from evaluation.kernels.prepared import Prepared
from evaluation.kernels.state import LabelState
from pooling.models import Pool

HELP = "seeds, current, full-test, depth:D or qrels:NAME"


@dataclass(frozen=True)
class LabelSet:
    """`state` int8[triples] (LabelState); `prepared` holds the positions that these labels are read against."""

    key: str
    name: str
    state: np.ndarray
    prepared: Prepared

    def counts(self) -> dict[str, int]:
        """Triples by state, over seeds and pooled triples (for the full test set: test triples)."""
        return {
            "positive": int((self.state == LabelState.POSITIVE).sum()),
            "negative": int((self.state == LabelState.NEGATIVE).sum()),
            "assumed_negative": int((self.state == LabelState.ASSUMED_NEGATIVE).sum()),
            "unjudged": int((self.state == LabelState.UNJUDGED).sum()),
        }


def label_set(pool: Pool, table: PoolTable, key: str) -> LabelSet:
    """The label set that `key` names; EvaluationError says which there are."""
    kind, _, argument = key.partition(":")
    if key == "full-test":
        state = np.where(table.is_test, LabelState.POSITIVE, LabelState.NOT_POOLED).astype(np.int8)
        return LabelSet(key, "full test", state, table.full_test)
    if key == "seeds":
        state = np.where(table.is_seed, LabelState.POSITIVE, LabelState.NOT_POOLED).astype(np.int8)
        return LabelSet(key, "seeds only", state, table.pool)
    if key == "current":
        return LabelSet(key, "current labels", current_state(pool, table), table.pool)
    if kind == "depth" and re.fullmatch("[0-9]{1,9}", argument):
        state = current_state(pool, table)
        state[(table.depth > int(argument)) & (state != LabelState.NOT_POOLED)] = LabelState.UNJUDGED
        return LabelSet(key, f"labels to depth {argument}", state, table.pool)
    if kind == "qrels" and argument:
        from evaluation.domain.qrels import qrels_state

        return LabelSet(key, f"qrels {argument}", qrels_state(pool, table, argument), table.pool)
    raise EvaluationError(f"Unknown label set {key!r}: give {HELP}.")


def current_state(pool: Pool, table: PoolTable) -> np.ndarray:
    """State of every triple under the labels of this moment, int8[triples]. A label beats a filter."""
    state = np.full(len(table.triples), LabelState.NOT_POOLED, dtype=np.int8)
    state[table.pooled_id > 0] = LabelState.UNJUDGED
    state[table.filtered] = LabelState.ASSUMED_NEGATIVE
    ids, verdicts, _ = current_verdicts(pool)
    places = np.array([table.position_of[i] for i in ids.tolist()], dtype=np.int64)
    for verdict, value in (
        (Verdict.POSITIVE, LabelState.POSITIVE),
        (Verdict.NEGATIVE, LabelState.NEGATIVE),
        (Verdict.UNDECIDED, LabelState.UNJUDGED),
    ):
        state[places[np.asarray(verdicts) == verdict.value]] = value
    state[table.is_seed] = LabelState.POSITIVE
    return state
