"""Read SimKGC's predictions: `eval_*_forward_*.json` and `eval_*_backward_*.json` of its evaluate.py.

Each entry has head, relation and tail by name (a backward one as `inverse RELATION` from the tail), the first k
candidates with scores, and in current versions the filtered rank of the answer. Lists are filtered by train, valid and
test, apart from the entry's own answer. Names are those of `entities.json`, relations those of `relations.json`.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pooling.graphs.kernels.graph_arrays import GraphArrays
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

INVERSE = "inverse "
MOST_RANK = 1 << 31  # more entities than a graph has
MASKED = -1.0  # what evaluate.py puts in the place of a known answer's score
NAMED = {"entity_id", "entity"}
KEYS = {"head", "relation", "tail", "topk_score_info"}


class Entry(NamedTuple):
    """Hold an entry: question key, entity that answers, its filtered rank (0: not known), candidates by name."""

    question: int
    answer: int
    rank: int
    candidates: dict[str, float]


def knows(path: Path) -> bool:
    """Tell whether a file, folder or archive holds JSON."""
    return any(name.endswith(".json") for name in names_of(path))


def _names(graph: GraphArrays, entities: Any) -> dict[str, list[int]]:
    """Return the entities that have each name: those of entities.json, else labels and keys of the graph."""
    found: dict[str, list[int]] = defaultdict(list)
    if entities is not None:
        for one in entities:
            if (entity := graph.entity_index.get(str(one["entity_id"]))) is not None:
                found[str(one["entity"])].append(entity)
    else:
        for entity, key in enumerate(graph.entities):
            for name in {key, graph.label(entity)}:
                found[name].append(entity)
    return found


def _relations(graph: GraphArrays, relations: Any) -> dict[str, int]:
    """Return relations by text: those of relations.json, else keys as they are, or with spaces for underscores."""
    if relations is not None:
        return {str(text): graph.relation_index[key] for key, text in relations.items() if key in graph.relation_index}
    found = {key.replace("_", " ").strip(): relation for key, relation in graph.relation_index.items()}
    return found | graph.relation_index


def _files(outside: Outside) -> tuple[list[list[dict[str, Any]]], Any, Any]:
    """Return the lists of entries, and entities.json and relations.json where they are there."""
    lists, entities, relations = [], None, None
    for name, data in members(outside, lambda name: name.endswith(".json")).items():
        try:
            content = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise outside.refusal(f"{name} is not JSON ({error}); {NONE_IMPORTED}") from error
        if isinstance(content, list) and content and isinstance(content[0], dict):
            if set(content[0]) >= KEYS:
                lists.append(content)
            elif set(content[0]) >= NAMED:
                if wrong := [one for one in content if not isinstance(one, dict) or not set(one) >= NAMED]:
                    told = str(wrong[0])[:200]
                    raise outside.refusal(f"{name} has an entry without entity_id and entity: {told}; {NONE_IMPORTED}")
                entities = content
        elif isinstance(content, dict) and Path(name).name == "relations.json":
            relations = content
    if not lists:
        raise outside.refusal(
            f"has no predictions of SimKGC: a list of entries with {', '.join(sorted(KEYS))}; {NONE_IMPORTED}"
        )
    return lists, entities, relations


def _entries(
    outside: Outside, lists: Iterable[list[dict[str, Any]]], names: dict[str, list[int]], relations: dict[str, int]
) -> tuple[list[Entry], int]:
    """Return the entries that one test triple has, and how many have none or several by their names."""
    graph, found, unclear = outside.graph, [], 0
    test = set(map(tuple, graph.test.tolist()))
    for one in (one for entries in lists for one in entries):
        candidates = _candidates(outside, one)
        text, side = str(one["relation"]), 0
        if text not in relations and text.startswith(INVERSE):
            text, side = text.removeprefix(INVERSE), 1
        if text not in relations:
            raise outside.refusal(
                f"the graph does not have a relation with the text {text[:200]!r}. Put relations.json of SimKGC's "
                f"data folder beside the predictions in one zip archive; {NONE_IMPORTED}"
            )
        given, answers, relation = names.get(one["head"], []), names.get(one["tail"], []), relations[text]
        triples = [(g, a) for g in given for a in answers if ((a, relation, g) if side else (g, relation, a)) in test]
        if len(triples) != 1:
            unclear += 1
            continue
        [(entity, answer)] = triples
        key = question_of_ids(side, np.array([entity]), np.array([relation]), graph)
        rank = int(one.get("rank") or 0) or _place(one["tail"], candidates)
        found.append(Entry(int(key[0]), answer, rank, candidates))
    if not found:
        raise outside.refusal(
            f"not one of its {unclear:,} entries is a test triple of the graph by its names. Put entities.json of "
            f"SimKGC's data folder beside the predictions in one zip archive; {NONE_IMPORTED}"
        )
    return found, unclear


def _candidates(outside: Outside, one: Any) -> dict[str, float]:
    """Return the candidates of an entry; TrecError unless it has what evaluate.py writes."""
    try:
        texts, candidates = [one[key] for key in KEYS], json.loads(one["topk_score_info"])
        numbers = [*candidates.values(), one.get("rank") or 0]
        if not 0 <= int(numbers[-1]) < MOST_RANK:  # OverflowError: 1e999
            raise ValueError
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        texts, candidates, numbers = [None], {}, []
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(n, int | float) for n in numbers):
        raise outside.refusal(
            f"an entry lacks {', '.join(sorted(KEYS))} as evaluate.py writes them: {str(one)[:200]}; {NONE_IMPORTED}"
        )
    return candidates


def _place(name: str, candidates: dict[str, float]) -> int:
    """Return the place of a name among the candidates, from 1; 0 if it is not one."""
    return list(candidates).index(name) + 1 if name in candidates else 0


def _rows(entries: list[Entry], names: dict[str, list[int]]) -> tuple[np.ndarray, int]:
    """Return question, entity, filtered rank, is answer: int64[n, 4]; and how many candidates had no one entity."""
    of_question: dict[int, list[Entry]] = defaultdict(list)
    for entry in entries:
        of_question[entry.question].append(entry)
    rows, unclear = [], 0
    for question, several in of_question.items():
        answers = {entry.answer: entry.rank for entry in several}
        rows += [(question, answer, rank, 1) for answer, rank in answers.items() if rank]
        others = max(([c for c, score in e.candidates.items() if score > MASKED and e.answer not in names.get(c, [])]
                      for e in several), key=len)  # fmt: skip
        for place, name in enumerate(others, 1):
            given = names.get(name, [])
            if len(given) == 1 and given[0] not in answers:
                rows.append((question, given[0], place, 0))
            else:
                unclear += 1
    return np.array(rows, np.int64).reshape(-1, 4), unclear


def read(outside: Outside) -> Answers:
    """Read the predictions; entries that are no test triple or no topic are left out and counted."""
    lists, entities, relations = _files(outside)
    names = _names(outside.graph, entities)
    entries, unclear = _entries(outside, lists, names, _relations(outside.graph, relations))
    rows, nameless = _rows(entries, names)
    kept, notes = asked_rows(outside, rows[:, 0])
    question, entity, rank, is_answer = rows[kept].T
    position = positions_of(is_answer == 1, question, rank)
    file = checked(outside, question, entity, -position.astype(float), position, line=kept + 1)
    depth = max(len(entry.candidates) for entry in entries)
    notes.append(
        f"Its lists hold {depth} candidates, k of compute_metrics in evaluate.py: what people find below has no rank."
    )
    if unclear:
        notes.append(f"{unclear:,} entries are not a test triple of the graph, or their names fit several; left out.")
    if nameless:
        notes.append(f"{nameless:,} candidates have a name of no entity, or of several; left out.")
    return Answers(file, notes, position)


SIMKGC = Adapter(
    "simkgc",
    "SimKGC predictions",
    "Zip or folder with `eval_*_forward_*.json` and `eval_*_backward_*.json`, `entities.json` and `relations.json`; a "
    "single JSON where labels of the graph are SimKGC's names.",
    knows,
    read,
)
