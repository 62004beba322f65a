"""Register the files of a test set, one entry each, in the order in which they are written, and hold their content.

A new file is a function `lines(content)` in a module of this package, and an entry in FILES.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from evaluation.labels.frozen import SETTLED, Frozen
from evaluation.labels.pool_table import PoolTable
from evaluation.models import Qrels, Terms
from evaluation.test_sets import description
from evaluation.test_sets.graph_tables import (
    alias_lines,
    description_lines,
    domain_range_lines,
    link_lines,
    relation_label_lines,
    template_lines,
    type_lines,
)
from evaluation.test_sets.labels import LabelColumns, LabelFigures, evidence_of, label_lines, question_lines
from evaluation.test_sets.ranks import SCORE, figure_lines, ranks_by_system
from evaluation.test_sets.tables import (
    Sums,
    judgement_lines,
    measured,
    ordered,
    pool_lines,
    positives,
    triple_lines,
    value_lines,
)
from evaluation.test_sets.trec import is_among, lists_of, pooled_triples
from evaluation.test_sets.trec_runs import Depth, Placed, depth_of, judged_runs, placed, whole_runs
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.runs.trec_write import pieces


class ExportOptions(NamedTuple):
    """Choose what a test set holds; each field is a column of Export."""

    with_runs: bool = True
    with_evidence: bool = True
    positives_only: bool = False
    strict: bool = False

    @property
    def left_out(self) -> list[str]:
        """Say in words what was asked to be left out or taken otherwise."""
        words = ("without runs", "without evidence", "positives only", "strict")
        return [word for word, asked, usual in zip(words, self, EVERYTHING, strict=True) if asked != usual]


EVERYTHING = ExportOptions()


@dataclass(frozen=True)
class Content:
    """Hold frozen qrels with their graph, labels and systems, for the writers of files."""

    qrels: Qrels
    graph: GraphArrays
    whole: Frozen  # all triples
    frozen: Frozen  # those that the export holds
    systems: list[str]
    all_labels: LabelColumns  # of the whole
    label_figures: LabelFigures  # of the whole; computed first of all, while little else is in memory
    options: ExportOptions
    terms: Terms

    @cached_property
    def labels(self) -> LabelColumns:
        """Return the labels of the triples that the export holds."""
        return self.all_labels.keep(positives(self.whole)) if self.options.positives_only else self.all_labels

    @cached_property
    def measures(self) -> tuple[PoolTable, Sums] | None:
        """Return the measures of the systems by question; None without systems."""
        return measured(self.qrels, self.systems) if self.systems else None

    @cached_property
    def placed(self) -> Placed | None:
        """Return where the systems place what the export holds; None without systems."""
        return placed(self.qrels.pool, self.systems, self.frozen.triples, self.frozen.state)

    @cached_property
    def depth(self) -> Depth:
        """Return how far the runs for trec_eval go."""
        return depth_of(self.placed) if self.placed is not None else Depth(None)

    def trec_list(self, name: str) -> Iterable[str] | None:
        """Return the lines of a list in TREC form; None where the export has no such list."""
        pool, frozen, strict = self.qrels.pool, self.frozen, self.options.strict
        return lists_of(pool, self.pooled, frozen.triples, frozen.state, self.qrels, strict, self.placed).get(name)

    @cached_property
    def pooled(self) -> np.ndarray:
        """Return the pooled triples int32[n, 3]."""
        return pooled_triples(self.qrels.pool)


Lines = Callable[[Content], Iterable[str] | None]
Folder = Callable[[Content], Mapping[str, Iterable[bytes]]]


class ExportedFile(NamedTuple):
    """Register a file of a test set, or a folder of files where `name` ends with a slash."""

    name: str
    about: str  # for the card and croissant.json
    lines: Lines | None = None  # None, or a function that returns None: it is not written
    files: Folder | None = None  # of a folder: the content of each file by its name
    records: bool = False  # it begins with a header, or holds an object a line: croissant.json describes its columns
    columns: tuple[str, ...] = ()  # of a table without a header, for the dataset card


def _train(content: Content) -> Iterable[str]:
    return triple_lines(content.graph.train, content.graph)


def _valid(content: Content) -> Iterable[str]:
    return triple_lines(content.graph.valid, content.graph)


def _test(content: Content) -> Iterable[str]:
    frozen = content.frozen
    return triple_lines(ordered(frozen.triples[positives(frozen)]), content.graph)


def _seeds(content: Content) -> Iterable[str]:
    frozen = content.frozen
    return triple_lines(frozen.triples[frozen.settled == SETTLED.index("seed")], content.graph)


def _known_test(content: Content) -> Iterable[str]:
    graph = content.graph
    return triple_lines(ordered(graph.test[~is_among(graph.test, content.whole.triples, graph)]), graph)


def _triples(content: Content) -> Iterable[str]:
    yield "split\thead\trelation\ttail"
    for split, lines in (("train", _train), ("valid", _valid), ("test", _test), ("known_test", _known_test)):
        yield from (f"{split}\t{line}" for line in lines(content))


def _original_test(content: Content) -> Iterable[str]:
    return triple_lines(content.graph.test, content.graph)


def _entity_labels(content: Content) -> Iterable[str]:
    graph = content.graph
    return (f"{key}\t{label}" for key, label in zip(graph.entities, graph.labels, strict=True) if label)


def _judgements(content: Content) -> Iterable[str]:
    evidence = evidence_of(content.frozen) if content.options.with_evidence else None
    return judgement_lines(content.frozen, content.graph, evidence)


def _labels(content: Content) -> Iterable[str]:
    return label_lines(content.qrels, content.frozen, content.graph, evidence=content.options.with_evidence)


def _trec_list(name: str, *, positives_too: bool = True) -> Lines:
    """Return the writer of a list in TREC form; `positives_too`: also where an export holds positives only."""

    def lines(content: Content) -> Iterable[str] | None:
        return content.trec_list(name) if positives_too or not content.options.positives_only else None

    return lines


def _per_question(content: Content) -> Iterable[str] | None:
    return value_lines(*content.measures, content.systems) if content.measures else None


def _whole_runs(content: Content) -> Mapping[str, Iterable[bytes]]:
    runs = whole_runs(content.qrels.pool, content.placed)
    return {f"{system}.txt.gz": run for system, run in runs.items()}


def _judged_runs(content: Content) -> Mapping[str, Iterable[bytes]]:
    if content.options.positives_only:  # bpref compares with negatives
        return {}
    runs = judged_runs(content.placed, strict=content.options.strict)
    return {f"{system}.txt.gz": run for system, run in runs.items()}


def _ranks(content: Content) -> Mapping[str, Iterable[bytes]]:
    if content.measures is None:
        return {}
    ranks = ranks_by_system(content.measures[0], content.systems, content.frozen.triples)
    return {f"{system}.tsv.gz": lines for system, lines in ranks.items()}


def _figures(content: Content) -> Iterable[str] | None:
    only = content.options.positives_only
    return figure_lines(*content.measures, content.systems, positives_only=only) if content.measures else None


def _score(content: Content) -> Iterable[str] | None:
    return SCORE.read_text(encoding="utf-8").splitlines() if content.measures else None


_TRIPLE = ("head", "relation", "tail")


def _if_any(lines: Callable[[Content], Iterable[str]]) -> Lines:
    """Return a writer of these lines that writes no file where there is none."""

    def found(content: Content) -> Iterable[str] | None:
        first = list(islice(given := iter(lines(content)), 1))
        return chain(first, given) if first else None

    return found


def _description(content: Content) -> Iterable[str]:
    about = {**content.whole.about, "labels": content.label_figures.stored()}
    left_out = content.options.left_out
    return description.description_lines(content.qrels, content.terms, about, content.systems, left_out)


FILES = (
    ExportedFile("train.tsv", "head, relation, tail", _train, columns=_TRIPLE),
    ExportedFile("valid.tsv", "likewise", _valid, columns=_TRIPLE),
    ExportedFile("test.tsv", "likewise: the positives", _test, columns=_TRIPLE),
    ExportedFile(
        "known_test.tsv",
        "test triples that were not sampled: known facts, in no list and not judged",
        _known_test,
        columns=_TRIPLE,
    ),
    ExportedFile("triples.tsv.gz", "the triples of these four files as one table, by split", _triples, records=True),
    ExportedFile(
        "original_test.tsv",
        "the test triples of the graph in their order: those of seeds.tsv and known_test.tsv",
        _original_test,
    ),
    ExportedFile(
        "seeds.tsv", "the sampled test triples: head, relation, tail, in the order of the pool", _seeds, columns=_TRIPLE
    ),
    ExportedFile("entity_labels.tsv", "entity, readable name", _entity_labels, columns=("entity", "label")),
    ExportedFile("entity_types.tsv", "entity, type", _if_any(lambda content: type_lines(content.graph))),
    ExportedFile(
        "entity_descriptions.tsv",
        "entity, description",
        _if_any(lambda content: description_lines(content.qrels, content.graph)),
    ),
    ExportedFile(
        "entity_aliases.tsv", "entity, alias", _if_any(lambda content: alias_lines(content.qrels, content.graph))
    ),
    ExportedFile("entity_links.tsv", "entity, link", _if_any(lambda content: link_lines(content.qrels, content.graph))),
    ExportedFile(
        "relation_labels.tsv", "relation, readable name", _if_any(lambda content: relation_label_lines(content.graph))
    ),
    ExportedFile(
        "relation_domain_range.tsv",
        "relation, domain, range",
        _if_any(lambda content: domain_range_lines(content.graph)),
    ),
    ExportedFile(
        "relation_templates.tsv",
        "relation, statement, tail question, head question: the words that were written for it",
        _if_any(lambda content: template_lines(content.qrels, content.graph)),
    ),
    ExportedFile(
        "judgements.tsv",
        "every triple: state, how it was settled, smallest depth (0: a seed), filter, evidence",
        _judgements,
        records=True,
    ),
    ExportedFile(
        "labels.jsonl",
        "each label that counted: who (pseudonym), when, how long, asked in which version of the words",
        _labels,
        records=True,
    ),
    ExportedFile(
        "questions.tsv",
        "what people read of each triple",
        lambda content: question_lines(content.labels, content.frozen, content.graph),
        records=True,
    ),
    ExportedFile(
        "pool.tsv",
        "the pooled triples: smallest depth, and which system found each for which side at which rank",
        lambda content: pool_lines(content.frozen, content.graph),
        columns=(*_TRIPLE, "depth", "found"),
    ),
    ExportedFile(
        "trec/topics.tsv", "question id, side, entity, relation, text", _trec_list("topics.tsv"), records=True
    ),
    ExportedFile(
        "trec/qrels.txt",
        "TREC, compared questions with an answer: question id, 0, entity, 1 or 0",
        _trec_list("qrels.txt"),
    ),
    ExportedFile(
        "trec/qrels_all.txt",
        "likewise, with the questions that a compared system was not asked",
        _trec_list("qrels_all.txt"),
    ),
    ExportedFile(
        "trec/qrels_infap.txt",
        "the lines of trec/qrels.txt, and -1 for what was pooled and not judged: for infAP",
        _trec_list("qrels_infap.txt", positives_too=False),
    ),
    ExportedFile(
        "trec/pool.txt", "what was pooled, in both its questions, all -1", _trec_list("pool.txt", positives_too=False)
    ),
    ExportedFile(
        "trec/runs/",
        "one a system, to the last answer: question id, Q0, entity, rank, -rank, system; known facts are removed",
        files=_whole_runs,
    ),
    ExportedFile("trec/bpref/", "likewise, the judged candidates alone: for bpref", files=_judged_runs),
    ExportedFile(
        "ranks/",
        "one a system: the ranks of every judged and every test answer; train and valid are removed",
        files=_ranks,
    ),
    ExportedFile(
        "measures.tsv",
        "one row a system and measure: the system as in file names, the measure, its mean as value",
        _figures,
        records=True,
    ),
    ExportedFile("score.py", "computes these figures from judgements.tsv and ranks/: python score.py", _score),
    ExportedFile("per_question.tsv.gz", "measures of each system by question", _per_question, records=True),
    ExportedFile(description.NAME, "names, pool and systems, for import_test_set", _description),
    ExportedFile("CITATION.cff", "how to cite it, for GitHub, Zenodo and reference managers"),
    ExportedFile("CITATION.bib", "the same as a BibTeX entry"),
    ExportedFile("datacite.json", "the same as metadata of DataCite, kernel 4, for whoever registers a DOI"),
    ExportedFile("croissant.json", "the same in the words of MLCommons Croissant"),
    ExportedFile("ro-crate-metadata.json", "the same as an RO-Crate"),
    ExportedFile("CHECKSUMS.sha256", "checksums of all of these: sha256sum -c CHECKSUMS.sha256"),
)


def exported_files(content: Content) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield name and content of every file but those that speak about the others (card, croissant.json, checksums)."""
    for file in FILES:
        if file.files is not None:
            yield from ((f"{file.name}{name}", lines) for name, lines in file.files(content).items())
        elif file.lines is not None and (lines := file.lines(content)) is not None:
            yield file.name, pieces(lines)


def about(name: str) -> str:
    """Say what a file of a test set is."""
    found = {file.name: file.about for file in FILES}
    folder, slash, _ = name.rpartition("/")
    return found.get(name) or found.get(folder + slash, "how it was made, in words and numbers")
