"""Import labels made elsewhere, and judge by their majority what people have not judged."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Q

from annotation.enums import Answer, JudgementOrigin, Verdict
from annotation.judging.judgements import verdict_of_lead
from annotation.judging.label_file import LabelLine, SkippedLine, Triple, read_label_file
from annotation.models import Campaign, ImportedLabel, Judgement
from annotation.sources.verified import verified
from core import clock
from core.database import insert_rows, one_at_a_time
from core.files.artifacts import sha256_of
from core.files.lines import LinesError
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool

NAMED = 10_000  # lines of a kind that a report names
_READ, _UPDATED = 20_000, 5000  # rows at once
_LABEL_FIELDS = (
    "triple", "line", "answer", "annotator", "source_url", "passage", "labelled_at", "side", "question_version",
    "cause", "file_name", "file_sha256", "created_at",
)  # fmt: skip
_JUDGEMENT_FIELDS = ("triple", "verdict", "pool", "origin", "decided_at")


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
        as_time = connection.ops.adapt_datetimefield_value
        labels, of_file = labels_of_pool(pool, path, report), (path.name, sha256, as_time(clock.now()))

        def new_rows() -> Iterator[tuple[Any, ...]]:
            for pk, label in labels:
                touched.add(pk)
                if (pk, label.line) in known:
                    report.known += 1
                    continue
                report.imported += 1
                told = label.annotator, label.source_url, label.passage, as_time(label.labelled_at)
                question = label.side, label.question_version, label.cause
                yield pk, label.line, label.answer.value, *told, *question, *of_file

        insert_rows(ImportedLabel, _LABEL_FIELDS, new_rows())  # the file is read while PostgreSQL takes its rows
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
    """Return the labels of a file that name pooled triples, with triple ids; `report` is told of its lines.

    The file is read as they are taken, the database before: it may take in rows meanwhile.
    """
    graph = open_graph(pool.graph)
    triples, filtered = _by_number(pool, graph)
    seeds = set(pool.seeds.values_list("head", "relation", "tail"))
    first_line: dict[int, int] = {}
    campaign = Campaign.objects.filter(pool=pool).first()
    hosts = cache(verified(campaign).hosts) if campaign else None

    def labels() -> Iterator[tuple[int, LabelLine]]:
        for line in read_label_file(path, graph, hosts):
            report.read += 1
            if isinstance(line, SkippedLine):
                report.skip(line)
            elif (pk := triples.get(_number(line.triple, graph))) is None:
                is_seed = line.triple in seeds
                outside = f"is a triple outside pool {pool.name}"
                reason = "is a seed triple, positive by definition" if is_seed else outside
                report.skip(SkippedLine(line.line, reason))
            else:
                notes = [*line.notes]
                if pk in filtered:
                    notes.append(f"labels a triple that filter {filtered[pk]} took; the label counts")
                if pk in first_line:
                    notes.append(f"is another label of the triple of line {first_line[pk]}")
                first_line.setdefault(pk, line.line)
                for note in notes:
                    report.note(line.line, note)
                yield pk, line

    return labels()


def _by_number(pool: Pool, graph: GraphArrays) -> tuple[dict[int, int], dict[int, str]]:
    """Return the id of each pooled triple by its number, and the filters of those that were filtered, by id."""
    ids, filtered = {}, {}
    columns = pool.triples.order_by().values_list("pk", "head", "relation", "tail", "reason")
    for pk, head, relation, tail, reason in columns.iterator(chunk_size=_READ):
        ids[_number((head, relation, tail), graph)] = pk
        if reason:
            filtered[pk] = reason
    return ids, filtered


def _number(triple: Triple, graph: GraphArrays) -> int:
    """Return one integer for a triple: among a million, a tuple of three takes several times the memory."""
    head, relation, tail = triple
    return (head * graph.num_relations + relation) * graph.num_entities + tail


def _judge_imported(pool: Pool, touched: set[int], report: ImportReport) -> None:
    """Judge these triples by the majority of all their imported labels, where people have not."""
    lead = Count("pk", filter=Q(answer=Answer.YES)) - Count("pk", filter=Q(answer=Answer.NO))
    given = ImportedLabel.objects.filter(triple__pool=pool).order_by("triple_id").values_list("triple_id")
    leads = given.annotate(lead=lead).iterator(chunk_size=_READ)
    verdicts = {pk: verdict_of_lead(lead) for pk, lead in leads if pk in touched}
    count = Counter(verdicts.values())
    report.positive, report.negative = count[Verdict.POSITIVE], count[Verdict.NEGATIVE]
    report.undecided = count[Verdict.UNDECIDED]
    changed: dict[Verdict, list[int]] = {verdict: [] for verdict in Verdict}
    columns = pool.judgements.order_by().values_list("triple_id", "verdict", "origin")
    for pk, before, origin in columns.iterator(chunk_size=_READ):
        verdict = verdicts.pop(pk, before)  # what is left has no judgement
        if origin == JudgementOrigin.IMPORT and verdict != before:
            changed[Verdict(verdict)].append(pk)
    now = clock.now()
    for verdict, ids in changed.items():
        for at in range(0, len(ids), _UPDATED):
            rows = pool.judgements.filter(triple__in=ids[at : at + _UPDATED])
            rows.update(verdict=verdict, decided_at=now)
    rest = (pool.pk, JudgementOrigin.IMPORT.value, connection.ops.adapt_datetimefield_value(now))
    insert_rows(Judgement, _JUDGEMENT_FIELDS, ((pk, verdict.value, *rest) for pk, verdict in verdicts.items()))
