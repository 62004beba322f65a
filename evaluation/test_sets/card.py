"""Write the card of a test set (README.md): how it was made, numbers, agreement, limits, licence and citation."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np

from annotation.enums import EvidenceRule
from annotation.quality.kernel import Agreement, Coefficient
from evaluation.labels.frozen import SETTLED, Frozen
from evaluation.labels.qrels import state_counts
from evaluation.measures.label_state import LabelState
from evaluation.models import Qrels
from evaluation.test_sets.files import FILES
from pooling.pools.kernels.filters import REASONS, reason_label

_STATES = (
    ("positive", "positive (seed triples included)"), ("negative", "negative (people or an import)"),
    ("assumed_negative", "assumed negative (filtered, no human)"), ("unjudged", "pooled and unjudged"),
)  # fmt: skip
_SETTLED = {
    "seed": "seed triple, positive by definition", "filtered": "filtered, an assumed negative",
    "agreed": "two people agreed", "adjudicated": "an adjudicator decided", "imported": "labels made elsewhere",
    "undecided": "undecided, counts as unjudged", "open": "without an answer yet",
}  # fmt: skip


class CardNumbers(NamedTuple):
    """Hold the numbers of the card: of all judgements, also where the export leaves some out."""

    questions: int
    answered: int  # questions with a positive answer
    agreement: Agreement
    doubles: int  # triples with two labels
    people: int
    days: tuple[datetime, datetime] | None  # first and last label of people
    measures: Sequence[str]
    systems: Mapping[str, Sequence[float]]  # name -> values, nan where undefined


def card(
    qrels: Qrels, frozen: Frozen, numbers: CardNumbers, left_out: Sequence[str], names: Sequence[str]
) -> Iterator[str]:
    """Yield the lines of the card; `left_out`: what the export leaves out; `names`: its files."""
    yield f"# Test set {qrels.pool.name}, qrels {qrels.name}"
    for part in (
        _made(qrels, frozen, numbers, left_out),
        _counts(frozen, numbers),
        _agreement(numbers),
        _measures(numbers),
        _limits(frozen),
        _use(numbers, names),
        _terms(qrels),
        _files(names),
    ):
        yield ""
        yield from part


def _made(qrels: Qrels, frozen: Frozen, numbers: CardNumbers, left_out: Sequence[str]) -> Iterator[str]:
    about, graph = frozen.about, qrels.pool.graph
    systems = ", ".join(about["contributors"]) or "systems elsewhere"
    yield "## How it was made"
    yield ""
    yield f"A completed test set of the knowledge graph {graph.name}: {graph.num_entities:,} entities,"
    yield f"{graph.num_relations:,} relations, {graph.num_train:,} train, {graph.num_valid:,} valid and"
    yield f"{graph.num_test:,} test triples."
    yield f"The first {about['depth']} candidates of {systems}"
    yield "for both questions of each seed triple were pooled."
    yield f"Seeds: {about['seed_source']}. Filters: {', '.join(about['filters']) or 'none'}."
    if numbers.days:
        first, last = (f"{day:%Y-%m-%d}" for day in numbers.days)
        yield f"People were asked from {first} to {last}, in the words of questions.tsv."
        yield "Two people label a triple without knowing of each other; where they differ, a third decides."
    if simulated := about.get("simulated"):
        yield f"{simulated:,} of these labels are of simulated people, who answer from a known truth: they measure"
        yield "nobody."
    if numbers.days and (rules := about.get("rules")):
        rule = EvidenceRule(rules["evidence_rule"]).label
        yield f"A link to evidence was asked: {rule}. Order of judging: {rules['order']}."
    yield f"Frozen {qrels.created_at:%Y-%m-%d %H:%M} UTC; SHA-256 of the qrels {qrels.sha256}."
    yield f"Assumed negatives are {'-1 (unjudged)' if 'strict' in left_out else '0'} in qrels.txt."
    if left_out:
        yield f"This archive: {', '.join(left_out)}. The numbers below are of all judgements."


def _counts(frozen: Frozen, numbers: CardNumbers) -> Iterator[str]:
    counts = state_counts(frozen.state)
    yield "## CardNumbers"
    yield ""
    yield "| triples | number |"
    yield "|---|---|"
    for name, words in _STATES:
        yield f"| {words} | {counts[name]:,} |"
    yield f"| all | {len(frozen.state):,} |"
    yield ""
    yield "| settled | how | number |"
    yield "|---|---|---|"
    for value, name in enumerate(SETTLED):
        yield f"| {name} | {_SETTLED[name]} | {int((frozen.settled == value).sum()):,} |"
    yield ""
    yield "| filter | why | number |"
    yield "|---|---|---|"
    filtered = frozen.reason[frozen.settled == SETTLED.index("filtered")]
    for value, name in enumerate(REASONS):
        if name and (number := int((filtered == value).sum())):
            yield f"| {name} | {reason_label(name)} | {number:,} |"
    yield ""
    yield f"{numbers.questions:,} questions. {len(frozen.labels.values):,} labels of {numbers.people:,} people,"
    yield f"{len(frozen.imported.values):,} labels made elsewhere."


def _agreement(numbers: CardNumbers) -> Iterator[str]:
    raw, alpha, ac1 = numbers.agreement
    yield "## Agreement"
    yield ""
    yield f"{numbers.doubles:,} triples have two labels, {raw.n:,} of them yes or no from both."
    yield "Before a third person decided, of whichever two people:"
    if raw.value is not None and raw.interval:
        low, high = raw.interval
        yield f"The same answer: {raw.value:.4f} (95 % {low:.4f} to {high:.4f})."
    yield f"Krippendorff's alpha: {_coefficient(alpha)}. Gwet's AC1: {_coefficient(ac1)}."


def _coefficient(of: Coefficient) -> str:
    return f"undefined ({of.reason})" if of.value is None else f"{of.value:.4f}"


def _measures(numbers: CardNumbers) -> Iterator[str]:
    yield "## Measures of the systems"
    yield ""
    if not numbers.systems:
        yield "None: no system had a complete run when the qrels were frozen, or they were left out."
        return
    yield "Under these judgements, assumed negatives among them. Means over positive answers (micro) or over the"
    yield f"{numbers.answered:,} questions that have one (the others)."
    yield ""
    yield "| system | " + " | ".join(numbers.measures) + " |"
    yield "|---" * (len(numbers.measures) + 1) + "|"
    for system, row in numbers.systems.items():
        cells = ["undefined" if np.isnan(value) else f"{value:.4f}" for value in row]
        yield f"| {system} | " + " | ".join(cells) + " |"


def _limits(frozen: Frozen) -> Iterator[str]:
    unjudged = int((frozen.state == LabelState.UNJUDGED).sum())
    yield "## Known limits"
    yield ""
    yield "- It is complete relative to the pool: what no system returned within the depth nobody has judged."
    yield "- Assumed negatives were filtered by a rule; no person has looked at them, unless they have a label."
    yield f"- {unjudged:,} pooled triples are unjudged. Unjudged is not negative."
    yield "- A system that did not contribute may find right answers that are not in the pool."
    yield "- Comments of people are free text that may name somebody, and are left out. Annotators are pseudonyms, the"
    yield "  same in all files of these qrels and others in other qrels."
    yield "- Cells of all files are as in the source, also those that a spreadsheet takes for a formula (=, +, -, @):"
    yield "  import them as text."


def _use(numbers: CardNumbers, names: Sequence[str]) -> Iterator[str]:
    trec = "qrels.txt and runs/" if any(name.startswith("runs/") for name in names) else "qrels.txt"
    yield "## How to read it"
    yield ""
    yield "In PyKEEN: `PathDataset('train.tsv', 'test.tsv', 'valid.tsv')`. In mlcroissant:"
    yield f"`Dataset('croissant.json').records('judgements')`. pytrec_eval and ir_measures read {trec}."
    yield f"Only {numbers.answered:,} of the {numbers.questions:,} questions have a positive answer: leave the others"
    yield "out of means there, as here."
    yield f"In {trec} white space and % of ids are percent-encoded."


def _terms(qrels: Qrels) -> Iterator[str]:
    yield "## Licence and citation"
    yield ""
    yield qrels.licence or "No licence was named when the qrels were frozen: ask whoever gave you this."
    yield "The graph has the licence of its publisher."
    yield ""
    yield qrels.citation or f"Cite as: test set {qrels.pool.name}/{qrels.name}, SHA-256 {qrels.sha256}."


def _files(names: Sequence[str]) -> Iterator[str]:
    yield "## Files"
    yield ""
    yield "| file | what |"
    yield "|---|---|"
    for file in FILES:
        above = any(name.startswith(file.name) for name in names)  # a folder's files begin with its name
        if above or file.name in ("croissant.json", "CHECKSUMS.sha256"):
            yield f"| {file.name} | {file.about} |"
