"""Write the single labels of a test set: pseudonym, answer, time, words of the question, evidence."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from annotation.enums import Answer
from annotation.models import GuidelineVersion, ImportedLabel, Label, QuestionTemplate
from annotation.models.slot import ADJUDICATION
from annotation.quality.kernel import MISSING, Agreement, Coefficient, Share, agreement
from evaluation.labels.frozen import Frozen, Ragged
from evaluation.models import Qrels
from pooling.enums import Side
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.questions.kernel import distinct
from pooling.questions.templates import fill

CHUNK = 2_000  # rows of the database that are held at once
ANSWERS = tuple(Answer.values)
QUESTION_COLUMNS = ("head", "relation", "tail", "side", "version", "group_question", "statement")  # of questions.tsv


class LabelColumns(NamedTuple):
    """Hold one entry per label, in the order of their ids.

    triple, template id, id of the person int32; head bool (which side was asked for), place int8 (3: the adjudicator),
    answer int8 (index into ANSWERS).
    """

    triple: np.ndarray
    template: np.ndarray
    person: np.ndarray
    head: np.ndarray
    place: np.ndarray
    answer: np.ndarray

    def keep(self, kept: np.ndarray) -> LabelColumns:
        """Return the labels of some triples, bool[n], which are numbered anew."""
        mine = kept[self.triple]
        found = LabelColumns(*(column[mine] for column in self))
        return found._replace(triple=(np.cumsum(kept) - 1)[found.triple])


def label_columns(frozen: Frozen) -> LabelColumns:
    """Return all labels of frozen qrels as arrays."""
    kinds = ("i4", "i4", "i4", "?", "i1", "i1")
    columns = LabelColumns(*(np.zeros(len(frozen.labels.values), kind) for kind in kinds))
    fields = ("template_id", "annotator_id", "item__side", "slot__number", "answer")
    for at, (triple, template, person, side, number, answer) in enumerate(_rows(Label, frozen.labels, fields)):
        values = (triple, template, person, side == Side.HEAD, number, ANSWERS.index(answer))
        for column, value in zip(columns, values, strict=True):
            column[at] = value
    return columns


def agreement_of(labels: LabelColumns) -> tuple[Agreement, int]:
    """Return the agreement of the two plain labels, yes and no, and the number of triples with two of them."""
    plain = labels.place != ADJUDICATION
    order = np.argsort(labels.triple[plain], kind="stable")
    triple, answer = labels.triple[plain][order], labels.answer[plain][order]
    second = np.flatnonzero(np.diff(triple, prepend=-1) == 0)
    both = np.stack([answer[second - 1], answer[second]])
    both[both == ANSWERS.index(Answer.CANT_TELL)] = MISSING
    return agreement(both[0], both[1], 2), len(second)


class LabelFigures(NamedTuple):
    """Hold what the card says of labels: agreement; `doubles`, triples with two; labels of people here, how many
    `people`; labels made elsewhere; times of the first and the last label of people, None without any; how many of the
    labels of people are decisions of adjudicators, None if a test set from outside does not tell."""

    agreement: Agreement
    doubles: int
    of_people: int
    people: int
    elsewhere: int
    days: tuple[datetime, datetime] | None
    decisions: int | None

    def stored(self) -> dict[str, Any]:
        """Return the figures for test_set.json; `of_stored` reads them."""
        days = [day.isoformat() for day in self.days] if self.days else None
        return {**self._asdict(), "agreement": [list(of) for of in self.agreement], "days": days}

    @classmethod
    def of_stored(cls, told: dict[str, Any]) -> LabelFigures:
        raw, alpha, ac1 = told["agreement"]
        found = Agreement(Share(*raw), Coefficient(*alpha), Coefficient(*ac1))
        days = [datetime.fromisoformat(day) for day in told["days"] or ()]
        doubles, of_people, people, elsewhere = (
            int(told[name]) for name in ("doubles", "of_people", "people", "elsewhere")
        )
        between = (days[0], days[1]) if days else None
        return cls(found, doubles, of_people, people, elsewhere, between, told.get("decisions"))


def label_figures(frozen: Frozen, labels: LabelColumns) -> LabelFigures:
    """Return the figures of all labels; of a test set that was imported, those of the site where people labelled."""
    if told := frozen.about.get("labels"):
        return LabelFigures.of_stored(told)
    found, doubles = agreement_of(labels)
    of_people, elsewhere = len(frozen.labels.values), len(frozen.imported.values)
    people, decisions = len(np.unique(labels.person)), int((labels.place == ADJUDICATION).sum())
    return LabelFigures(found, doubles, of_people, people, elsewhere, _days_of(frozen), decisions)


def _days_of(frozen: Frozen) -> tuple[datetime, datetime] | None:
    """Return the times of the first and the last label of people here; None without any."""
    ids = frozen.labels.values
    if not len(ids):
        return None
    first, last = int(ids.min()), int(ids.max())
    given = dict(Label.objects.filter(pk__in=[first, last]).values_list("pk", "created_at"))
    return given[first], given[last]


def _rows(model: Any, ids: Ragged, fields: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield triple and fields of each row, in the order of the ids, a few thousand at a time."""
    order = np.argsort(ids.values)
    for start in range(0, len(order), CHUNK):
        places = order[start : start + CHUNK]
        triple = np.searchsorted(ids.indptr, places, side="right") - 1
        rows = model.objects.filter(pk__in=ids.values[places].tolist()).order_by("pk").values_list(*fields)
        yield from ((at, *row) for at, row in zip(triple.tolist(), rows, strict=True))


# -- labels.jsonl -----------------------------------------------------------------------------------------------


def label_lines(qrels: Qrels, frozen: Frozen, graph: GraphArrays, *, evidence: bool) -> Iterator[str]:
    """Yield a JSON object for each label that counted, oldest first; imported labels after those of people here."""
    versions = GuidelineVersion.objects.filter(campaign__pool=qrels.pool).order_by("version")
    guidelines = list(versions.values_list("created_at", "version"))
    times = [at for at, _ in guidelines]
    own = ("answer", "slot__number", "annotator_id", "created_at", "active_ms", "away_ms")
    fields = (*own, "item__side", "template__version", "is_bulk", "cause", "source_url", "passage")
    for triple, answer, number, person, at, active, away, side, version, bulk, cause, *source in _rows(
        Label, frozen.labels, fields
    ):
        known = bisect_right(times, at)
        role = "adjudicator" if number == ADJUDICATION else "annotator"
        given: dict[str, Any] = {"role": role, "annotator": pseudonym(qrels, person), "at": _utc(at)}
        given |= {"active_ms": active, "away_ms": away, "side": side, "question_version": version}
        given |= {"bulk": True} if bulk else {}
        given["guideline_version"] = guidelines[known - 1][1] if known else None
        given |= {"cause": cause} if cause else {}
        yield _json(graph, frozen.triples[triple], answer, given, source if evidence else None)
    of_file = ("answer", "annotator", "labelled_at", "side", "question_version", "cause", "source_url", "passage")
    for triple, answer, name, when, side, version, cause, *source in _rows(ImportedLabel, frozen.imported, of_file):
        who, at = pseudonym(qrels, name) if name else None, _utc(when) if when else None
        imported: dict[str, Any] = {"role": "import", "annotator": who, "at": at}
        imported |= {"side": side, "question_version": version} if version else {}
        imported |= {"cause": cause} if cause else {}
        yield _json(graph, frozen.triples[triple], answer, imported, source if evidence else None)


def _json(graph: GraphArrays, triple: np.ndarray, answer: str, given: dict[str, Any], source: list[str] | None) -> str:
    """Return a line; `source` is the address and the passage, which is left out where nobody gave one."""
    head, relation, tail = triple.tolist()
    keys = {"head": graph.entities[head], "relation": graph.relations[relation], "tail": graph.entities[tail]}
    told = {**keys, "label": answer, **given}
    if source is not None:
        url, passage = source
        told |= {"evidence": url} | ({"passage": passage} if passage else {})
    return json.dumps(told, ensure_ascii=False)


def pseudonym(qrels: Qrels, person: int | str) -> str:
    """Return the pseudonym of a person in all exports of these qrels; it tells nothing without the salt."""
    kind = "user" if isinstance(person, int) else "import"
    mac = hmac.new(qrels.salt.encode(), f"{kind}:{person}".encode(), hashlib.sha256)
    return f"p-{mac.hexdigest()[:12]}"


def _utc(when: datetime) -> str:
    return when.astimezone(UTC).isoformat().replace("+00:00", "Z")


# -- beside the triples -----------------------------------------------------------------------------------------


def evidence_of(frozen: Frozen) -> Iterator[str]:
    """Yield the addresses given for each triple, in the order of the labels, by spaces; spaces within are encoded."""
    given = _addresses(Label, frozen.labels), _addresses(ImportedLabel, frozen.imported)
    for people, imported in zip(*given, strict=True):
        yield " ".join(dict.fromkeys(re.sub(r"\s", lambda space: quote(space[0]), url) for url in people + imported))


def _addresses(model: Any, ids: Ragged) -> Iterator[list[str]]:
    """Yield the addresses of each triple, reading a stretch of triples at once."""
    n = len(ids.indptr) - 1
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        keys = ids.values[ids.indptr[start] : ids.indptr[stop]].tolist()
        found = dict(model.objects.filter(pk__in=keys).exclude(source_url="").values_list("pk", "source_url"))
        for triple in range(start, stop):
            yield [found[pk] for pk in ids.of(triple).tolist() if pk in found] if found else []


def question_lines(labels: LabelColumns, frozen: Frozen, graph: GraphArrays) -> Iterator[str]:
    """Yield what people read of each triple: a line for each version of the words that a label was given under.

    Of an imported test set, these are the lines that it came with.
    """
    yield "\t".join(QUESTION_COLUMNS)
    for triple, words in enumerate(() if frozen.words is None else frozen.words):
        keys = _keys(frozen.triples[triple], graph)
        yield from ("\t".join([*keys, line]) for line in words.split("\n") if line)
    ids, place = np.unique(labels.template, return_inverse=True)
    found = QuestionTemplate.objects.in_bulk(ids.tolist())
    templates = [found[number] for number in ids.tolist()]
    shown = distinct((labels.triple.astype(np.int64) * len(ids) + place) * 2 + labels.head)
    for start in range(0, len(shown), CHUNK):
        for number in shown[start : start + CHUNK].tolist():  # (triple * templates + template) * 2 + head asked
            asked_of, head_asked = divmod(number, 2)
            triple, at = divmod(asked_of, len(templates))
            template, (head, _, tail) = templates[at], frozen.triples[triple].tolist()
            group = template.head_question if head_asked else template.tail_question
            words = [fill(text, graph.label(head), graph.label(tail)) for text in (group, template.statement)]
            keys = _keys(frozen.triples[triple], graph)
            yield "\t".join([*keys, "head" if head_asked else "tail", str(template.version), *words])


def _keys(triple: np.ndarray, graph: GraphArrays) -> tuple[str, str, str]:
    head, relation, tail = triple.tolist()
    return graph.entities[head], graph.relations[relation], graph.entities[tail]
