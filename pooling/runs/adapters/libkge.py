"""Read LibKGE's trace of an evaluation: ranks of the test answers, without lists of candidates.

LibKGE writes them with `eval.trace_level: example`, one line a question: `kge test FOLDER --eval.trace_level example`.
Its ids are those of `entity_ids.del` and `relation_ids.del` of its dataset.
"""

import re
from pathlib import Path, PurePosixPath

import numpy as np

from pooling.runs.adapters.base import (
    NONE_IMPORTED,
    Adapter,
    Answers,
    Outside,
    asked_rows,
    checked,
    positions_of,
    question_of_ids,
)
from pooling.runs.adapters.members import members, names_of
from pooling.runs.trec_read import Wrong, plain_int

TRACE, ENTITIES, RELATIONS = "trace.yaml", "entity_ids.del", "relation_ids.del"
FIELD = re.compile(r"[{ ](\w+): ([^,}\[]+)")
RANK_ONLY = (
    "It has ranks of test answers and no candidates: it cannot be pooled, and answers that people find have no rank."
)


def knows(path: Path) -> bool:
    """Tell whether a folder or archive holds a trace and the files of ids."""
    if path.is_file() and path.suffix != ".zip":
        return path.suffix == ".yaml"
    return any(PurePosixPath(name).name == TRACE for name in names_of(path))


def _ids(outside: Outside, name: str, text: str, index: dict[str, int]) -> np.ndarray:
    """Return the graph's id of each of LibKGE's, int64[n]; -1 where the graph lacks the key."""
    pairs = [line.split("\t", 1) for line in text.splitlines() if line]
    if not pairs or not all(len(pair) == 2 and re.fullmatch("[0-9]{1,9}", pair[0]) for pair in pairs):
        raise outside.refusal(f"{name} has a line that is not `number TAB key`; {NONE_IMPORTED}")
    largest = max(int(number) for number, _ in pairs)
    if largest > 10 * len(pairs) + 1000:  # LibKGE numbers from 0; an array has a place for each number
        raise outside.refusal(f"{name} has number {largest:,} and {len(pairs):,} lines; {NONE_IMPORTED}")
    found = np.full(largest + 1, -1, np.int64)
    for number, key in pairs:
        found[int(number)] = index.get(key, -1)
    return found


def _examples(outside: Outside, text: str) -> tuple[np.ndarray, list[str]]:
    """Return s, p, o, side and filtered rank of each test example, int64[n, 5], of the last evaluation in the trace."""
    rows: list[list[int]] = []
    job = ""
    for line in text.splitlines():
        if "scope: example" not in line or "task: " not in line:
            continue
        entry = {key: value.strip() for key, value in FIELD.findall(line)}
        if entry.get("split", entry.get("data")) != "test":
            continue
        if entry.get("job_id", "") != job:
            rows, job = [], entry.get("job_id", "")
        rank = entry.get("rank_filtered_with_test", entry.get("rank_filtered", ""))
        try:
            side = ("sp", "po").index(entry["task"])
            rows.append([plain_int(entry["s"]), plain_int(entry["p"]), plain_int(entry["o"]), side, plain_int(rank)])
        except (KeyError, ValueError) as error:
            raise outside.refusal(
                f"{TRACE} has a line without s, p, o, task or rank_filtered: {line[:200]}; {NONE_IMPORTED}"
            ) from error
    if not rows:
        raise outside.refusal(
            f"{TRACE} has no ranks of test examples. Write them with `kge test FOLDER --eval.trace_level example`; "
            f"{NONE_IMPORTED}"
        )
    with_test = "rank_filtered_with_test" in text or re.search(r"filter_splits: \[[^\]]*test", text)
    if not with_test:
        raise outside.refusal(
            "its ranks are not filtered by the test set. Evaluate with `--entity_ranking.filter_with_test true`; "
            f"{NONE_IMPORTED}"
        )
    return np.array(rows, np.int64), [RANK_ONLY]


def read(outside: Outside) -> Answers:
    """Read the ranks of the last evaluation on test; questions that are not topics are left out and counted."""
    found = {PurePosixPath(name).name: data for name, data in members(outside, lambda name: True).items()}
    if missing := [name for name in (TRACE, ENTITIES, RELATIONS) if name not in found]:
        raise outside.refusal(
            f"lacks {', '.join(missing)}: put trace.yaml of the experiment and both id files of the dataset into one "
            f"folder or zip archive; {NONE_IMPORTED}"
        )
    graph, text = outside.graph, {name: found[name].decode("utf-8", "replace") for name in (TRACE, ENTITIES, RELATIONS)}
    rows, notes = _examples(outside, text[TRACE])
    entities = _ids(outside, ENTITIES, text[ENTITIES], graph.entity_index)
    relations = _ids(outside, RELATIONS, text[RELATIONS], graph.relation_index)
    wrong = Wrong(f"{outside.name}: example")
    for column, ids in ((0, entities), (1, relations), (2, entities)):
        for row in np.flatnonzero((rows[:, column] >= len(ids)) | (rows[:, column] < 0)).tolist():
            wrong.add(row + 1, f"id {rows[row, column]} is in no id file")
    wrong.refuse()
    head, relation, tail = entities[rows[:, 0]], relations[rows[:, 1]], entities[rows[:, 2]]
    for row in np.flatnonzero((head < 0) | (relation < 0) | (tail < 0)).tolist():
        wrong.add(row + 1, "its triple has an entity or relation that the graph does not have")
    wrong.refuse()
    for row in np.flatnonzero(rows[:, 4] < 1).tolist():
        wrong.add(row + 1, f"rank {rows[row, 4]} is not a place from 1")
    wrong.refuse()
    side = rows[:, 3]
    given, entity = np.where(side == 0, head, tail), np.where(side == 0, tail, head)
    question = question_of_ids(0, given, relation, graph) + side * graph.num_relations * graph.num_entities
    kept, more = asked_rows(outside, question)
    question, rank = question[kept], rows[kept, 4]
    position = positions_of(np.ones(len(kept), bool), question, rank)
    file = checked(outside, question, entity[kept], -position.astype(float), position, line=kept + 1)
    return Answers(file, [*notes, *more], position)


LIBKGE = Adapter(
    "libkge",
    "LibKGE trace",
    "Folder or zip with `trace.yaml` of `kge test FOLDER --eval.trace_level example`, `entity_ids.del` and "
    "`relation_ids.del`: ranks of test answers, no candidates.",
    knows,
    read,
)
