"""Compare what was acknowledged with what is stored: plain SQL and Python, by none of the code under test."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from benchmarks.chaos.people import Sent

SHOWN = 5  # of the findings of each kind


class Cursor(Protocol):
    """What the cursors of psycopg and Django share."""

    def execute(self, query: Any, /) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class _Label(NamedTuple):
    id: int
    client_id: UUID
    answer: str
    supersedes: int | None
    item: int
    person: str
    slot: int
    number: int
    slot_state: str
    holder: str
    ticket: UUID


@dataclass
class Verdict:
    """What the database holds, and every way in which that is wrong, in words."""

    acknowledged: int = 0
    stored: int = 0
    items: int = 0
    settled: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    jobs: Counter[str] = field(default_factory=Counter)
    attempts: int = 0  # beyond the first of each job
    files: int = 0  # whose checksums were compared

    @property
    def is_good(self) -> bool:
        return not (self.lost or self.doubled or self.wrong)

    def findings(self) -> list[str]:
        """Return the first findings of each kind."""
        kinds = {"lost": self.lost, "doubled": self.doubled, "wrong": self.wrong}
        return [f"{kind}: {one}" for kind, found in kinds.items() for one in found[:SHOWN]]


def judge(cursor: Cursor, sent: Sequence[Sent], artifacts: Path) -> Verdict:
    """Read the database once all is quiet, and compare."""
    verdict = Verdict()
    labels = _labels(cursor)
    surplus = {_uuid(client): answer for client, answer in _ask(cursor, "SELECT client_id, answer FROM {surpluslabel}")}
    verdict.stored = len(labels) + len(surplus)
    _check_sent(verdict, labels, surplus, sent)
    _check_doubled(verdict, labels, surplus, sent)
    live = _live(labels)
    _check_slots(verdict, cursor, live)
    _check_items(verdict, cursor, live)
    _check_jobs(verdict, cursor)
    _check_files(verdict, cursor, artifacts)
    return verdict


def _ask(cursor: Cursor, query: str) -> list[Any]:
    for name in ("surpluslabel", "label", "slot", "item", "judgement"):
        query = query.replace("{" + name + "}", f"annotation_{name}")
    cursor.execute(query)
    return cursor.fetchall()


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _uuid(value: Any) -> UUID:
    return value if isinstance(value, UUID) else UUID(str(value))


def _labels(cursor: Cursor) -> dict[UUID, _Label]:
    rows = _ask(
        cursor,
        "SELECT l.id, l.client_id, l.answer, l.supersedes_id, l.item_id, u.username, s.id, s.number, s.state,"
        " h.username, s.ticket FROM {label} l JOIN auth_user u ON u.id = l.annotator_id"
        " JOIN {slot} s ON s.id = l.slot_id LEFT JOIN auth_user h ON h.id = s.annotator_id ORDER BY l.id",
    )
    found = (_Label._make((row[0], _uuid(row[1]), *row[2:10], _uuid(row[10]))) for row in rows)
    return {label.client_id: label for label in found}


def _live(labels: dict[UUID, _Label]) -> list[_Label]:
    """Return the labels that nothing supersedes, of slots that count."""
    superseded = {label.supersedes for label in labels.values()}
    return [one for one in labels.values() if one.id not in superseded and one.slot_state != "withdrawn"]


def _check_sent(verdict: Verdict, labels: dict[UUID, _Label], surplus: dict[UUID, str], sent: Iterable[Sent]) -> None:
    """Find what was acknowledged and is not stored as it was sent, and whether the last of it is what counts."""
    by_id = {label.id: label for label in labels.values()}
    superseded = {by_id[label.supersedes].client_id for label in labels.values() if label.supersedes is not None}
    last: dict[UUID, Sent] = {}
    unknown: set[UUID] = set()  # tickets with an answer of which nobody knows what became
    for one in sent:
        if not one.kept:
            if not one.is_refused:
                unknown.add(one.ticket)
            elif one.client_id in labels or one.client_id in surplus:
                verdict.wrong.append(f"answer {one.client_id} was refused, and is stored")
            continue
        verdict.acknowledged += 1
        if one.kept == "surplus":
            if surplus.get(one.client_id) != one.answer:
                verdict.lost.append(f"surplus answer {one.client_id} of {one.person}")
            continue
        last[one.ticket] = one
        label = labels.get(one.client_id)
        if label is None:
            verdict.lost.append(f"label {one.client_id} of {one.person}")
        elif (label.answer, label.person, label.ticket) != (one.answer, one.person, one.ticket):
            stored = f"{label.answer} of {label.person} at {label.ticket}"
            verdict.lost.append(f"label {one.client_id}: {one.answer} of {one.person} at {one.ticket}, stored {stored}")
    for ticket, one in last.items():
        if ticket not in unknown and one.client_id in labels and one.client_id in superseded:
            verdict.lost.append(f"label {one.client_id} of {one.person} was the last one, and another counts")


def _check_doubled(
    verdict: Verdict, labels: dict[UUID, _Label], surplus: dict[UUID, str], sent: Sequence[Sent]
) -> None:
    """Find answers that are stored twice, or that nobody sent, and items with a label too many."""
    known = {one.client_id for one in sent}
    for client in (labels.keys() | surplus.keys()) - known:
        verdict.doubled.append(f"label {client}, which nobody sent")
    for client in labels.keys() & surplus.keys():
        verdict.doubled.append(f"answer {client} is a label and a surplus label")
    firsts = Counter(label.slot for label in labels.values() if label.supersedes is None)
    verdict.doubled += [f"slot {slot} has {n} first labels" for slot, n in firsts.items() if n > 1]
    replaced = Counter(label.supersedes for label in labels.values() if label.supersedes is not None)
    verdict.doubled += [f"label {label} was changed {n} times at once" for label, n in replaced.items() if n > 1]
    plain: dict[int, list[str]] = defaultdict(list)
    everybody: dict[int, list[str]] = defaultdict(list)
    for label in _live(labels):
        everybody[label.item].append(label.person)
        if label.number != 3:
            plain[label.item].append(label.person)
    verdict.doubled += [
        f"item {item} has {len(people)} plain labels" for item, people in plain.items() if len(people) > 2
    ]
    twice = [item for item, people in everybody.items() if len(set(people)) < len(people)]
    verdict.doubled += [f"item {item} has two labels of one person" for item in twice]


def _check_slots(verdict: Verdict, cursor: Cursor, live: list[_Label]) -> None:
    """Find slots whose state does not fit their labels."""
    holds = {label.slot: label for label in live}
    for label in live:
        if label.slot_state != "answered":
            verdict.wrong.append(f"slot {label.slot} has a label, and is {label.slot_state}")
        elif label.holder != label.person:
            verdict.wrong.append(f"slot {label.slot} is of {label.holder}, its label of {label.person}")
    for (slot,) in _ask(cursor, "SELECT id FROM {slot} WHERE state = 'answered'"):
        if slot not in holds:
            verdict.wrong.append(f"slot {slot} is answered, and has no label")
    numbers = Counter(_ask(cursor, "SELECT item_id, number FROM {slot} WHERE state <> 'withdrawn'"))
    verdict.wrong += [f"item {item} has {n} slots {number}" for (item, number), n in numbers.items() if n > 1]


def expected(answers: dict[int, str]) -> tuple[str, str | None]:
    """Return state and verdict of an item with these answers that count, by slot number; no item is reopened here."""
    plain = [answer for number, answer in answers.items() if number in (1, 2)]
    verdicts = {"Y": "positive", "N": "negative", "?": "undecided"}
    if len(plain) < 2:
        return "open", None
    if 3 in answers:
        return ("undecided" if answers[3] == "?" else "settled"), verdicts[answers[3]]
    if plain[0] == plain[1] and plain[0] != "?":
        return "settled", verdicts[plain[0]]
    return "disputed", None


def _check_items(verdict: Verdict, cursor: Cursor, live: list[_Label]) -> None:
    """Find items whose state, judgement or third slot does not follow from their labels."""
    answers: dict[int, dict[int, str]] = defaultdict(dict)
    for label in live:
        answers[label.item][label.number] = label.answer
    third = {item for (item,) in _ask(cursor, "SELECT item_id FROM {slot} WHERE number = 3 AND state <> 'withdrawn'")}
    rows = _ask(
        cursor, "SELECT i.id, i.state, j.verdict FROM {item} i LEFT JOIN {judgement} j ON j.triple_id = i.triple_id"
    )
    for item, state, judged in rows:
        verdict.items += 1
        should, says = expected(answers[item])
        verdict.settled += state == "settled"
        if state != should:
            verdict.wrong.append(f"item {item} is {state}, and its labels {answers[item]} make it {should}")
        if says is not None and judged != says:
            verdict.wrong.append(f"item {item} is judged {judged}, and its labels {answers[item]} say {says}")
        if says is None and judged not in (None, "undecided"):
            verdict.wrong.append(f"item {item} is judged {judged}, and its labels {answers[item]} decide nothing")
        if should == "disputed" and item not in third:
            verdict.wrong.append(f"item {item} is disputed, and has no third slot")


def _check_jobs(verdict: Verdict, cursor: Cursor) -> None:
    """Find jobs that did not end well, and subjects that do not know it."""
    rows = _ask(cursor, "SELECT id, kind, state, attempts, finished_at, error, stage, log FROM core_job")
    for job, kind, state, attempts, finished, error, stage, log in rows:
        verdict.jobs[state] += 1
        verdict.attempts += max(0, attempts - 1)
        if state != "done":
            verdict.wrong.append(f"job {job} ({kind}) is {state} after {attempts} attempts at {stage}: {error}\n{log}")
        elif finished is None:
            verdict.wrong.append(f"job {job} ({kind}) is done, and never ended")
    trained = _ask(
        cursor,
        "SELECT j.id, s.name, s.state, s.settings, s.history FROM core_job j JOIN pooling_system s"
        " ON s.id = j.system_id WHERE j.state = 'done'",
    )
    for job, name, state, settings, history in trained:
        epochs = [epoch["epoch"] for epoch in _json(history)]
        if state != "trained" or epochs != list(range(1, _json(settings)["epochs"] + 1)):
            verdict.wrong.append(f"job {job} is done, and {name} is {state} after the epochs {epochs}")
    unwritten = "SELECT e.id FROM evaluation_export e WHERE e.sha256 = ''"
    verdict.wrong += [f"export {export} is not written" for (export,) in _ask(cursor, unwritten)]


def _check_files(verdict: Verdict, cursor: Cursor, artifacts: Path) -> None:
    """Find files that are not those whose checksums the rows remember."""
    for table in ("pooling_graph", "pooling_system", "pooling_run", "evaluation_qrels", "evaluation_export"):
        for row, artifact, sha256 in _ask(cursor, f"SELECT id, artifact, sha256 FROM {table} WHERE sha256 <> ''"):
            path = artifacts / artifact
            files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
            verdict.files += 1
            if sha256 not in (_sha256(file) for file in files):
                verdict.wrong.append(f"{table} {row}: no file at {artifact} has its checksum")


def _sha256(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
