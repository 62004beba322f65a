"""Make judgements from labels: two that agree, else the adjudicator's, else imported ones."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from django.db import transaction
from django.db.models import Count, QuerySet, Window

from annotation.enums import Answer, ItemState, JudgementOrigin, SlotState, Verdict
from annotation.judging.label_file import LabelLine, SkippedLine, read_label_file
from annotation.judging.transitions import move_item, release_slots
from annotation.models import Campaign, ImportedLabel, Item, Judgement, Label, Slot
from annotation.models.slot import ADJUDICATION
from annotation.sources.verified import verified
from core import clock
from core.database import one_at_a_time
from core.files.artifacts import sha256_of
from core.files.lines import LinesError
from pooling.graphs.opening import open_graph
from pooling.models import Pool

NAMED = 10_000  # lines of a kind that a report names
AT_ONCE = 2000  # labels of a file in memory
LAST = 50  # judgements named in a version: more than the transactions that can be under way at once
_COPIED = (  # columns that a line of a file fills
    "line", "answer", "annotator", "source_url", "passage", "labelled_at", "side", "question_version", "cause",
)  # fmt: skip
VERDICTS = {Answer.YES: Verdict.POSITIVE, Answer.NO: Verdict.NEGATIVE, Answer.CANT_TELL: Verdict.UNDECIDED}


class VerdictArrays(NamedTuple):
    """Judged triples by id: triple_id int64[n]; verdict str[n], a Verdict."""

    triple_id: np.ndarray
    verdict: np.ndarray


def live_labels() -> QuerySet[Label]:
    """Return the labels that count: the latest version in each slot, except in withdrawn slots."""
    return Label.objects.filter(superseded_by=None, slot__state=SlotState.ANSWERED)


def decide(answers: Mapping[int, str], *, reopened: bool = False) -> tuple[ItemState, Verdict | None]:
    """Return state and verdict of an item from the answers that count, by slot number.

    A reopened item needs a third answer even where two agree.
    """
    places = [answer for number, answer in answers.items() if number != ADJUDICATION]
    if len(places) < 2:
        return ItemState.OPEN, None
    if ADJUDICATION in answers:
        verdict = VERDICTS[Answer(answers[ADJUDICATION])]
        return (ItemState.UNDECIDED if verdict is Verdict.UNDECIDED else ItemState.SETTLED), verdict
    if places[0] == places[1] != Answer.CANT_TELL and not reopened:
        return ItemState.SETTLED, VERDICTS[Answer(places[0])]
    return ItemState.DISPUTED, None


def majority(answers: Iterable[str]) -> Verdict:
    """Return the majority of labels made elsewhere. Can't tell is not a vote; a tie is undecided."""
    count = Counter(answers)
    difference = count[Answer.YES] - count[Answer.NO]
    return Verdict.POSITIVE if difference > 0 else Verdict.NEGATIVE if difference < 0 else Verdict.UNDECIDED


def fallback_verdict(imported: Collection[str]) -> tuple[Verdict, JudgementOrigin]:
    """Return verdict and origin where people no longer decide: by imported labels, or undecided."""
    return majority(imported), JudgementOrigin.IMPORT if imported else JudgementOrigin.PEOPLE


def taken_back(pool: Pool) -> QuerySet[Judgement]:
    """Return judgements that no longer hold: people are asked about their triples again."""
    waiting = (ItemState.OPEN, ItemState.DISPUTED)
    back = pool.judgements.filter(verdict=Verdict.UNDECIDED, origin=JudgementOrigin.PEOPLE)
    return back.filter(triple__item__state__in=waiting).order_by()


def judge_item(item: Item, *, now: datetime | None = None) -> None:
    """Bring state, third slot and judgement of an item in line with its labels. The caller holds its lock."""
    now = now or clock.now()
    current = live_labels().filter(item=item)
    state, verdict = decide(dict(current.values_list("slot__number", "answer")), reopened=item.reopened)
    before = item.state
    move_item(item, state, settled_at=now if verdict is not None else None)
    third = Slot.objects.filter(item=item, number=ADJUDICATION).exclude(state=SlotState.WITHDRAWN)
    if state == ItemState.DISPUTED != before:
        if not third.exists():
            Slot.objects.create(item=item, number=ADJUDICATION)
    elif before == ItemState.DISPUTED != state:
        # withdrawn when the labels agree after all; an answered third slot is what decided, and stays
        drop_third_slots([item.pk])
    _write(item, verdict, now)


def drop_third_slots(items: Collection[int]) -> None:
    """Remove the third slots of items that are no longer disputed; answered ones stay.

    A slot that an adjudicator holds is only freed: their answer may be on its way, and is then kept apart.
    """
    third = Slot.objects.filter(item__in=items, number=ADJUDICATION)
    Slot.objects.filter(pk__in=list(third.filter(state=SlotState.FREE).values_list("pk", flat=True))).delete()
    held = list(third.filter(state=SlotState.LEASED).values_list("pk", flat=True))
    release_slots(Slot.objects.filter(pk__in=held))


def _write(item: Item, verdict: Verdict | None, now: datetime) -> None:
    """Write the judgement; never delete one, since the time of the last decision is the version of all results."""
    judgement = Judgement.objects.filter(triple_id=item.triple_id).first()
    origin = JudgementOrigin.PEOPLE
    if verdict is None:
        if judgement is None or judgement.origin == JudgementOrigin.IMPORT:
            return
        imported = list(ImportedLabel.objects.filter(triple_id=item.triple_id).values_list("answer", flat=True))
        verdict, origin = fallback_verdict(imported)
    if judgement is None:
        pool = item.campaign.pool_id
        Judgement.objects.create(pool_id=pool, triple_id=item.triple_id, verdict=verdict, origin=origin, decided_at=now)
    elif (judgement.verdict, judgement.origin) != (verdict, origin):
        Judgement.objects.filter(pk=judgement.pk).update(verdict=verdict, origin=origin, decided_at=now)


def current_verdicts(pool: Pool) -> VerdictArrays:
    """Return every judgement of the pool, by triple id."""
    rows = list(pool.judgements.order_by("triple_id").values_list("triple_id", "verdict"))
    return VerdictArrays(
        np.array([row[0] for row in rows], dtype=np.int64), np.array([row[1] for row in rows], dtype="U10")
    )


def decision_times(pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    """Return the triple of every judgement, int64[n], and when, datetime64[us][n] in UTC, by triple id."""
    rows = list(pool.judgements.order_by("triple_id").values_list("triple_id", "decided_at"))
    return (
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1].replace(tzinfo=None) for row in rows], dtype="datetime64[us]"),
    )


def labels_version(pool: Pool) -> str:
    """Return a text that differs whenever the judgements differ; empty if there are none.

    Later versions compare as greater. The time of the last decision is not enough: a transaction may commit after one
    that decided later.
    """
    latest = list(
        pool.judgements.annotate(n=Window(Count("pk")))
        .order_by("-decided_at", "-pk")
        .values_list("pk", "decided_at", "n")[:LAST]
    )
    if not latest:
        return ""
    _, at, n = latest[0]
    seen = " ".join(f"{pk}@{when.isoformat()}" for pk, when, _ in latest)
    return f"{at.isoformat()}/{n}/{hashlib.sha256(seen.encode()).hexdigest()[:12]}"


# -- labels made elsewhere -----------------------------------------------------------------------------------


@dataclass
class ImportReport:
    """What an import did, in lines; positive, negative and undecided count triples.

    `skipped` and `notes` name the first lines of their kind, `num_skipped` and `num_notes` count all.
    """

    read: int = 0
    imported: int = 0
    known: int = 0  # lines of the same file that were imported before
    positive: int = 0
    negative: int = 0
    undecided: int = 0
    num_skipped: int = 0
    num_notes: int = 0
    skipped: list[SkippedLine] = field(default_factory=list)
    notes: list[SkippedLine] = field(default_factory=list)  # imported, but irregular

    def skip(self, line: SkippedLine) -> None:
        self.num_skipped += 1
        if self.num_skipped <= NAMED:
            self.skipped.append(line)

    def note(self, line: int, reason: str) -> None:
        self.num_notes += 1
        if self.num_notes <= NAMED:
            self.notes.append(SkippedLine(line, reason))


def import_labels(pool: Pool, path: Path) -> ImportReport:
    """Add the labels of a file; their majority judges what people have not judged.

    Bad lines are skipped and named; importing the same file again adds nothing.
    """
    report, touched = ImportReport(), set[int]()
    with transaction.atomic():
        one_at_a_time(f"import labels into pool {pool.pk}")  # the second of two of one file knows the first's lines
        sha256 = _sha256(path)
        known = set(ImportedLabel.objects.filter(file_sha256=sha256).values_list("triple_id", "line"))
        file = {"file_name": path.name, "file_sha256": sha256}
        lines = labels_of_pool(pool, path, report)
        while part := list(islice(lines, AT_ONCE)):
            touched.update(pk for pk, _ in part)
            new = [
                ImportedLabel(triple_id=pk, **file, **{name: getattr(line, name) for name in _COPIED})
                for pk, line in part
                if (pk, line.line) not in known
            ]
            ImportedLabel.objects.bulk_create(new)
            report.imported += len(new)
            report.known += len(part) - len(new)
        _judge_imported(pool, touched, report)
    return report


def _sha256(path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError as error:
        raise LinesError(f"{path}: {error.strerror or error}") from error


def import_judged(
    pool: Pool, answers: Mapping[tuple[int, int, int], tuple[Answer, int]], file_name: str, file_sha256: str
) -> None:
    """Add one label for each of these pooled triples, with its line in the file, and judge by it.

    The caller holds the transaction.
    """
    ids = {row[1:]: row[0] for row in pool.triples.values_list("pk", "head", "relation", "tail")}
    labels = [
        ImportedLabel(
            triple_id=ids[triple], answer=answer, file_name=file_name[:300], file_sha256=file_sha256, line=line
        )
        for triple, (answer, line) in answers.items()
    ]
    ImportedLabel.objects.bulk_create(labels, batch_size=2000)
    _judge_imported(pool, {label.triple_id for label in labels}, ImportReport())


def labels_of_pool(pool: Pool, path: Path, report: ImportReport) -> Iterator[tuple[int, LabelLine]]:
    """Yield the labels of a file that name pooled triples, with triple ids; `report` is told of its lines."""
    triples = {
        (head, relation, tail): (pk, reason)
        for pk, head, relation, tail, reason in pool.triples.values_list("pk", "head", "relation", "tail", "reason")
    }
    seeds = set(pool.seeds.values_list("head", "relation", "tail"))
    first_line: dict[int, int] = {}
    campaign = Campaign.objects.filter(pool=pool).first()
    hosts = verified(campaign).hosts if campaign else None
    for line in read_label_file(path, open_graph(pool.graph), hosts):
        report.read += 1
        if isinstance(line, SkippedLine):
            report.skip(line)
        elif line.triple not in triples:
            is_seed = line.triple in seeds
            reason = "is a seed triple, positive by definition" if is_seed else f"is a triple outside pool {pool.name}"
            report.skip(SkippedLine(line.line, reason))
        else:
            pk, filtered = triples[line.triple]
            notes = [*line.notes]
            if filtered:
                notes.append(f"labels a triple that filter {filtered} took; the label counts")
            if pk in first_line:
                notes.append(f"is another label of the triple of line {first_line[pk]}")
            first_line.setdefault(pk, line.line)
            for note in notes:
                report.note(line.line, note)
            yield pk, line


def _judge_imported(pool: Pool, touched: set[int], report: ImportReport) -> None:
    answers: dict[int, Counter[str]] = defaultdict(Counter)
    given = ImportedLabel.objects.filter(triple__pool=pool).values_list("triple_id", "answer").order_by()
    for pk, answer, n in given.annotate(n=Count("pk")):
        if pk in touched:
            answers[pk][answer] = n
    verdicts = {pk: majority(of.elements()) for pk, of in answers.items()}
    count = Counter(verdicts.values())
    report.positive, report.negative = count[Verdict.POSITIVE], count[Verdict.NEGATIVE]
    report.undecided = count[Verdict.UNDECIDED]
    now = clock.now()
    present = {judgement.triple_id: judgement for judgement in pool.judgements.all()}
    new, changed = [], []
    for pk, verdict in verdicts.items():
        judgement = present.get(pk)
        if judgement is None:
            new.append(
                Judgement(pool=pool, triple_id=pk, verdict=verdict, origin=JudgementOrigin.IMPORT, decided_at=now)
            )
        elif judgement.origin == JudgementOrigin.IMPORT and judgement.verdict != verdict:
            judgement.verdict, judgement.decided_at = verdict, now
            changed.append(judgement)
    Judgement.objects.bulk_create(new, batch_size=2000)
    Judgement.objects.bulk_update(changed, ["verdict", "decided_at"], batch_size=500)
