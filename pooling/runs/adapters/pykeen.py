"""Read the data frames of pykeen.predict, saved as TSV, CSV or Parquet."""

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from pooling.runs.adapters.base import (
    NONE_IMPORTED,
    Adapter,
    Answers,
    Outside,
    asked_rows,
    checked,
    places_by_score,
    question_of_ids,
    resolved,
)
from pooling.runs.adapters.parquet import check_once, coded, columns_of, is_parquet, numbers, read_table
from pooling.runs.trec_read import Wrong, entity_of

TEXTS = ("head_label", "relation_label", "tail_label", "target")
NUMBERS = ("head_id", "tail_id", "score")
TARGETS = ("head", "tail", "both")


def first_line(path: Path) -> str:
    """Return the first line of a text file, up to 1,000 characters; empty if it is no text."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return file.read(1_000).decode("utf-8", errors="ignore").partition("\n")[0].lstrip("\ufeff").strip()


def knows(path: Path) -> bool:
    """Tell whether the columns are those of a prediction frame."""
    if is_parquet(path):
        names = columns_of(path)
    else:
        line = first_line(path)
        names = {name.strip('"') for name in line.split("\t" if "\t" in line else ",")}
    return (
        "score" in names
        and "question" not in names
        and bool(names & {"head_id", "tail_id", "head_label", "tail_label"})
    )


def _table(outside: Outside) -> pa.Table:
    if is_parquet(outside.path):
        return read_table(outside, (*TEXTS, *NUMBERS))
    size = outside.path.stat().st_size
    if outside.max_bytes is not None and size > outside.max_bytes:
        raise outside.refusal(f"has {size:,} bytes; at most {outside.max_bytes:,} can be sent here; {NONE_IMPORTED}")
    kinds = {**dict.fromkeys(TEXTS, pa.string()), **dict.fromkeys(NUMBERS, pa.float64())}
    try:
        table = csv.read_csv(
            outside.path,
            read_options=csv.ReadOptions(use_threads=False),  # then an error names the row
            parse_options=csv.ParseOptions(delimiter="\t" if "\t" in first_line(outside.path) else ","),
            convert_options=csv.ConvertOptions(column_types=kinds, null_values=[""], strings_can_be_null=False),
        )
        _ = table.column_names  # decoded when it is asked for
        return table
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise outside.refusal(f"cannot be read as a table ({str(error)[:300]}); {NONE_IMPORTED}") from error


def _sides(outside: Outside, table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Tell of each row whether it answers the question for its tail, and the one for its head; bool[n] each.

    A column `target` says it. Without one, predict_target leaves out the id of what was given, and the frames of
    predict_all and predict_triples have both: their rows answer both questions.
    """
    if "target" in table.column_names:
        codes, names = coded(outside, table["target"], "target")
        if unknown := sorted(set(names) - set(TARGETS)):
            raise outside.refusal(f"column target has {unknown[0]!r}; write head, tail or both; {NONE_IMPORTED}")
        said = np.array(names, dtype=object)[codes] if len(names) else np.zeros(0, object)
        return np.isin(said, ["tail", "both"]), np.isin(said, ["head", "both"])
    empty = np.full(table.num_rows, np.nan)
    tail, head = (
        ~np.isnan(numbers(outside, table, name) if name in table.column_names else empty)
        for name in ("tail_id", "head_id")
    )
    if not (tail | head).all():
        row = int(np.flatnonzero(~(tail | head))[0]) + 1
        raise outside.refusal(
            f"row {row:,} has neither head_id nor tail_id, so nobody can tell what was predicted. Add a column "
            f"target with head, tail or both; {NONE_IMPORTED}"
        )
    return tail, head


def read(outside: Outside) -> Answers:
    """Read the frame; rows that answer other questions than the topics are left out and counted."""
    table, graph, wrong = _table(outside), outside.graph, Wrong(outside.name)
    outside.check_rows(table.num_rows)
    check_once(outside, (*TEXTS, *NUMBERS), table.column_names)
    if missing := [name for name in (*TEXTS[:3], "score") if name not in table.column_names]:
        raise outside.refusal(
            f"has no column {', '.join(missing)}. predict_target leaves out what was given: add it, for example "
            "frame.assign(head_label=head, relation_label=relation), and pass triples_factory, so that labels are "
            f"there; {NONE_IMPORTED}"
        )
    asks_tail, asks_head = _sides(outside, table)
    head, tail = (
        resolved(*coded(outside, table[name], name), lambda key: entity_of(key, graph, quoted=False), wrong)
        for name in ("head_label", "tail_label")
    )
    relation = resolved(
        *coded(outside, table["relation_label"], "relation_label"),
        lambda key: graph.relation_index.get(key, f"the graph does not have relation {key[:200]!r}"),
        wrong,
    )
    wrong.refuse()
    score, (of_tail, of_head) = numbers(outside, table, "score"), map(np.flatnonzero, (asks_tail, asks_head))
    row = np.concatenate([of_tail, of_head])
    question = np.concatenate(
        [
            question_of_ids(0, head[of_tail], relation[of_tail], graph),
            question_of_ids(1, tail[of_head], relation[of_head], graph),
        ]
    )
    entity = np.concatenate([tail[of_tail], head[of_head]])
    kept, notes = asked_rows(outside, question)
    kept = kept[np.argsort(row[kept], kind="stable")]
    question, score = question[kept], score[row[kept]]
    places = places_by_score(question, score)
    return Answers(checked(outside, question, entity[kept], score, places, line=row[kept] + 1), notes)


PYKEEN = Adapter(
    "pykeen",
    "PyKEEN prediction frames",
    "Frames of `pykeen.predict` with labels, as TSV, CSV or Parquet: of `predict_all`, or of `predict_target` with "
    "what was given added (`head_label`, `relation_label` or `tail_label`), one after the other.",
    knows,
    read,
)
