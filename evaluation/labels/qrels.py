"""Write and read qrels: judgements under a name, in a file that never changes, frozen here or imported."""

import re
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse

from annotation.enums import WebhookEvent
from annotation.judging.judgements import current_verdicts
from annotation.webhooks.events import tell
from core.database import held, one_moment
from core.files.artifacts import ArtifactError, artifact_path, sha256_of, writing
from core.files.parquet import numbers
from core.files.storage import checked, publish
from core.people.audit_log import record
from evaluation.enums import EvaluationAct, QrelsOrigin
from evaluation.labels.frozen import Frozen, column_of, facts, frozen_of, frozen_table, indices
from evaluation.labels.pool_table import EvaluationError, PoolTable, evaluated, triple_codes
from evaluation.labels.terms import GivenTerms, checked_terms
from evaluation.measures.label_state import LabelState
from evaluation.models import Qrels, Terms
from pooling.enums import PoolState
from pooling.models import Pool

STATE_NAMES = {
    LabelState.POSITIVE: "positive",
    LabelState.NEGATIVE: "negative",
    LabelState.ASSUMED_NEGATIVE: "assumed_negative",
    LabelState.UNJUDGED: "unjudged",
}


_LOST = "Without a backup, freeze or import them again under another name."


def pooled_state(pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    """Return seeds, then pooled triples, int32[n, 3], and their current states, int8[n]. It needs no runs."""
    rows = list(pool.triples.order_by("id").values_list("id", "head", "relation", "tail", "reason"))
    seeds = list(pool.seeds.order_by("id").values_list("head", "relation", "tail"))
    triples = np.array([*seeds, *[row[1:4] for row in rows]], dtype=np.int32).reshape(-1, 3)
    state = np.full(len(triples), LabelState.UNJUDGED, dtype=np.int8)
    state[: len(seeds)] = LabelState.POSITIVE
    state[len(seeds) :][[bool(row[4]) for row in rows]] = LabelState.ASSUMED_NEGATIVE
    place = {row[0]: len(seeds) + i for i, row in enumerate(rows)}
    ids, verdicts = current_verdicts(pool)
    value = {"positive": LabelState.POSITIVE, "negative": LabelState.NEGATIVE, "undecided": LabelState.UNJUDGED}
    for triple, verdict in zip(ids.tolist(), list(verdicts), strict=True):
        state[place[triple]] = value[str(verdict)]
    return triples, state


def state_counts(state: np.ndarray) -> dict[str, int]:
    """Count positive, negative, assumed_negative and unjudged; they add up to the number of triples."""
    return {name: int((state == value).sum()) for value, name in STATE_NAMES.items()}


def freeze_warnings(counts: Mapping[str, int], to_people: int) -> list[str]:
    """Say what qrels with these counts of states would lack. to_people: pooled triples that no filter took."""
    warnings = []
    if not counts["negative"]:
        assumed = counts["assumed_negative"]
        said = f"the {assumed:,} assumed ones rest on the filter alone" if assumed else "none is assumed either"
        warnings.append(
            f"No triple was judged negative; {said}. Measures that compare positives with negatives "
            "(precision, MAP, nDCG, classification) will not be reliable."
        )
    if (unjudged := counts["unjudged"]) * 2 > to_people:
        warnings.append(
            f"{unjudged:,} of {to_people:,} triples for people are unjudged. Any figure with these qrels rests on the "
            "smaller part of the pool."
        )
    elif unjudged:
        warnings.append(
            f"{unjudged:,} of {to_people:,} triples for people have no judgement yet, disputes among them. "
            "They stay unjudged in these qrels."
        )
    return warnings


def freeze_qrels(pool: Pool, name: str, user: User | None = None, **given: Unpack[GivenTerms]) -> Qrels:
    """Freeze the current judgements of the pool under a name, which can be used only once.

    given: what the test set will say of itself, version 1 of its terms. UserError where it cannot be taken.
    """
    check_new(pool, name)
    terms = checked_terms(given)
    if pool.state != PoolState.READY:
        raise EvaluationError(f"Pool {pool.name} is {pool.state}: freeze it when it is ready.")
    with one_moment():
        triples, state = pooled_state(pool)
        known = frozen_table(facts(pool, triples, state))
    said = {"systems": _systems(pool)}
    with transaction.atomic():
        qrels = write_qrels(pool, name, triples, state, origin=QrelsOrigin.FROZEN, user=user, known=known, said=said)
        Terms.objects.create(qrels=qrels, version=1, created_at=qrels.created_at, created_by=user, **terms)
        record(user, EvaluationAct.QRELS_FROZEN, pool=pool, about=name)
        counts = {key: getattr(qrels, f"num_{key}") for key in state_counts(state)}
        tell(WebhookEvent.QRELS, pool, reverse("export", args=[pool.name]), qrels=name, counts=counts)
    return qrels


def _systems(pool: Pool) -> list[str] | None:
    """Return the systems with complete runs; None (not known) where a file of a run is damaged."""
    try:
        return evaluated(pool)
    except ArtifactError:
        return None


def check_new(pool: Pool, name: str) -> None:
    """Raise EvaluationError unless qrels of this pool can be given that name."""
    if not re.fullmatch(r"[-a-zA-Z0-9_]{1,80}", name):
        raise EvaluationError(f"Qrels name {name!r}: use letters, digits, - and _, at most 80.")
    taken = pool.qrels.filter(name=name).first()
    if taken is not None:
        raise _taken(taken)


def _taken(qrels: Qrels) -> EvaluationError:
    return EvaluationError(
        f"Pool {qrels.pool.name} has qrels {qrels.name!r} already; {qrels.origin} qrels never change: "
        "choose a new name."
    )


def write_qrels(
    pool: Pool,
    name: str,
    triples: np.ndarray,
    state: np.ndarray,
    *,
    origin: QrelsOrigin,
    user: User | None,
    notes: Sequence[str] = (),
    known: pa.Table | None = None,
    said: Mapping[str, Any] = MappingProxyType({}),
) -> Qrels:
    """Write triples int32[n, 3] and their states int8[n] under a new name. The caller holds the transaction.

    `known`: more columns (frozen.py); `said`: more fields of the row.
    """
    held(pool)
    codes = sorted(STATE_NAMES)
    names = pa.DictionaryArray.from_arrays(np.searchsorted(codes, state), [STATE_NAMES[c] for c in codes])
    content = pa.table([*triples.T, names.cast(pa.string())], names=["head", "relation", "tail", "state"])
    for name_of, column in zip(known.column_names, known.columns, strict=True) if known else ():
        content = content.append_column(name_of, column)
    content = content.replace_schema_metadata(known.schema.metadata if known else None)
    qrels, made = Qrels.objects.get_or_create(
        pool=pool,
        name=name,
        defaults={
            "artifact": "",
            "sha256": "",
            "created_by": user,
            "origin": origin,
            "notes": list(notes),
            **{f"num_{key}": count for key, count in state_counts(state).items()},
            **said,
        },
    )
    if not made:  # another request was faster
        raise _taken(qrels)
    qrels.artifact = f"qrels/{qrels.pk}-{uuid.uuid4().hex[:12]}.parquet"
    path = artifact_path(qrels.artifact)
    with writing(path) as aside:
        pq.write_table(content, aside, compression="zstd")
    qrels.sha256 = sha256_of(path)
    publish(qrels.artifact)
    qrels.save(update_fields=["artifact", "sha256"])
    return qrels


def get_qrels(pool: Pool, name: str, origin: QrelsOrigin = QrelsOrigin.FROZEN) -> Qrels:
    """Return the qrels of that name; EvaluationError lists the names that there are."""
    there = pool.qrels.filter(origin=origin)
    qrels = there.filter(name=name).first()
    if qrels is None:
        known = ", ".join(there.order_by("name").values_list("name", flat=True)) or "none yet"
        kind = "qrels" if origin == QrelsOrigin.FROZEN else "imported qrels"
        raise EvaluationError(f"Pool {pool.name} has no {kind} {name[:80]!r}. {kind.capitalize()}: {known}.")
    return qrels


def read_qrels(qrels: Qrels) -> tuple[np.ndarray, np.ndarray]:
    """Return triples int32[n, 3] and states int8[n] of qrels, after checking the checksum."""
    path = _file(qrels)
    return _triples(path), _states(path)


def read_frozen(qrels: Qrels) -> Frozen:
    """Return all that was frozen. Earlier qrels hold triples and states only: the rest is then current."""
    path = _file(qrels)
    triples, state = _triples(path), _states(path)
    if "settled" in pq.read_schema(path).names:
        return frozen_of(path, triples, state)
    with one_moment():
        return facts(qrels.pool, triples, state)


def _file(qrels: Qrels) -> Path:
    return checked(qrels.artifact, "", qrels.sha256, _LOST)


def _triples(path: Path) -> np.ndarray:
    triples = np.empty((pq.read_metadata(path).num_rows, 3), dtype=np.int32)
    for i, name in enumerate(("head", "relation", "tail")):
        triples[:, i] = numbers(column_of(path, name))
    return triples


def _states(path: Path) -> np.ndarray:
    return indices(column_of(path, "state"), {name: value for value, name in STATE_NAMES.items()})


def qrels_state(table: PoolTable, qrels: Qrels) -> np.ndarray:
    """Return the state of every triple of the table under qrels, int8[triples]."""
    triples, state = read_qrels(qrels)
    result = np.full(len(table.triples), LabelState.NOT_POOLED, dtype=np.int8)
    codes = triple_codes(table.triples, table.graph)
    result[np.searchsorted(codes, triple_codes(triples, table.graph))] = state
    return result
