"""Write the card of a test set (README.md): how it was made, numbers, agreement, limits, licence and citation."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from annotation.enums import EvidenceRule
from annotation.quality.kernel import Coefficient
from evaluation.labels.frozen import SETTLED, Frozen
from evaluation.labels.licences import in_words, is_spdx
from evaluation.labels.qrels import state_counts
from evaluation.labels.terms import creators_of
from evaluation.measures.label_state import LabelState
from evaluation.test_sets.citation import suggested_citation
from evaluation.test_sets.columns import tables
from evaluation.test_sets.files import FILES, Content
from evaluation.test_sets.hugging_face import front_matter
from evaluation.test_sets.labels import LabelFigures
from evaluation.test_sets.tables import positives
from evaluation.test_sets.trec_card import trec_words
from pooling.enums import PoolRule
from pooling.pools.kernels.filters import REASONS, reason_label
from pooling.questions.kernel import distinct_questions
from pooling.systems.shown_names import shown_name

_STATES = (
    ("positive", "positive (seed triples included)"), ("negative", "negative (people or an import)"),
    ("assumed_negative", "assumed negative (filtered, no human)"), ("unjudged", "pooled and unjudged"),
)  # fmt: skip
_SETTLED = {
    "seed": "seed triple, positive by definition", "filtered": "filtered, an assumed negative",
    "agreed": "two people agreed", "adjudicated": "an adjudicator decided", "imported": "labels made elsewhere",
    "undecided": "undecided, counts as unjudged", "open": "without an answer yet",
}  # fmt: skip
# files that are written after the card
_LAST = (
    "CITATION.cff", "CITATION.bib", "datacite.json", "croissant.json", "ro-crate-metadata.json", "CHECKSUMS.sha256",
)  # fmt: skip


# PyKEEN drops triples of entities that its train lacks: hence the numbers of all entities beforehand
_SPLITS = """\
import numpy as np
from pykeen.triples import TriplesFactory

rows = {
    name: np.array([line.rstrip("\\n").split("\\t") for line in open(f"{name}.tsv", encoding="utf-8")]).reshape(-1, 3)
    for name in ("train", "valid", "test", "known_test")
}
every = np.concatenate(list(rows.values()))
entities = {name: i for i, name in enumerate(np.unique(every[:, [0, 2]]).tolist())}
relations = {name: i for i, name in enumerate(np.unique(every[:, 1]).tolist())}
train, valid, test, known = (
    TriplesFactory.from_labeled_triples(triples, entity_to_id=entities, relation_to_id=relations)
    for triples in rows.values()
)
"""
_EVALUATION = """\
from pykeen.evaluation import RankBasedEvaluator

found = RankBasedEvaluator(filtered=True).evaluate(
    model,
    test.mapped_triples,
    additional_filter_triples=[train.mapped_triples, valid.mapped_triples, known.mapped_triples],
)
micro_mrr = found.get_metric("both.realistic.inverse_harmonic_mean_rank")
"""


def card(content: Content, folder: Path, names: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the card of the files in a folder. Numbers are of all judgements, exported or not."""
    qrels, frozen = content.qrels, content.whole
    asked = len(distinct_questions(frozen.triples).side)
    answered = len(distinct_questions(frozen.triples[positives(frozen)]).side)
    title = f"Test set {qrels.pool.name}, qrels {qrels.name}"
    graph = qrels.pool.graph
    triples = graph.num_train + graph.num_valid + int(positives(frozen).sum())
    yield from front_matter(title, content.terms.licence, triples, tables(folder, names))
    yield f"# {title}"
    for heading, lines in (
        ("How it was made", _made(content)),
        ("Numbers", _counts(content, asked)),
        ("Agreement", _agreement(content.label_figures)),
        ("Measures of the systems", _measures(content, answered)),
        ("Known limits", _limits(frozen)),
        ("How to read it", _use(asked, answered, names)),
        ("The same measures elsewhere", _elsewhere(content, names)),
        ("Licence and citation", _terms(content)),
        ("Files", _files(names)),
    ):
        yield from ("", f"## {heading}", "", *lines)


def _table(head: str, rows: Iterable[str]) -> Iterator[str]:
    """Yield a table in Markdown; " | " separates the cells of `head` and of each row."""
    yield f"| {head} |"
    yield "|---" * (head.count(" | ") + 1) + "|"
    yield from (f"| {row} |" for row in rows)


def _made(content: Content) -> Iterator[str]:
    qrels, about, left_out = content.qrels, content.whole.about, content.options.left_out
    graph, days = qrels.pool.graph, content.label_figures.days
    systems = _in_a_line(", ".join(map(_named, about["contributors"]))) or "systems elsewhere"
    yield f"A completed test set of the knowledge graph {graph.name}: {graph.num_entities:,} entities,"
    yield f"{graph.num_relations:,} relations, {graph.num_train:,} train, {graph.num_valid:,} valid and"
    yield f"{graph.num_test:,} original test triples. The positives of the completed test set are in test.tsv;"
    yield "*Files*, at the end, says what each other file is."
    yield f"The first {about['depth']} candidates of {systems}"
    yield f"for both questions of each seed triple were pooled. Pooling rule: {PoolRule(about['rule']).label}."
    yield f"Seeds: {_in_a_line(about['seed_source'])}. Filters: {', '.join(about['filters']) or 'none'}."
    if days:
        first, last = (f"{day:%Y-%m-%d}" for day in days)
        when = f"on {first}" if first == last else f"from {first} to {last}"
        yield f"People were asked {when}, in the words of questions.tsv."
        yield "Two people label each triple without seeing each other's answer. If they differ, a third person decides."
    if simulated := about.get("simulated"):
        yield f"{simulated:,} of these labels, decisions included, are simulated: they come from a known truth and"
        yield "measure no person."
    if days and (rules := about.get("rules")):
        rule = EvidenceRule(rules["evidence_rule"]).label
        yield f"A link to evidence was asked: {rule}. Order of judging: {rules['order']}."
    yield f"Frozen {qrels.created_at:%Y-%m-%d %H:%M} UTC; SHA-256 of the qrels {qrels.sha256}."
    yield f"Assumed negatives are {'-1 (unjudged)' if 'strict' in left_out else '0'} in trec/."
    if left_out:
        yield f"This archive: {', '.join(left_out)}. The numbers below are of all judgements."


def _counts(content: Content, asked: int) -> Iterator[str]:
    frozen = content.whole
    counts, settled = state_counts(frozen.state), np.bincount(frozen.settled, minlength=len(SETTLED))
    states = [f"{words} | {counts[name]:,}" for name, words in _STATES]
    yield from _table("triples | number", [*states, f"all | {len(frozen.state):,}"])
    yield ""
    how = (f"{name} | {_SETTLED[name]} | {n:,}" for name, n in zip(SETTLED, settled, strict=True))
    yield from _table("settled | how | number", how)
    yield ""
    reasons = np.bincount(frozen.reason[frozen.settled == SETTLED.index("filtered")], minlength=len(REASONS))
    why = ((name, n) for name, n in zip(REASONS, reasons, strict=True) if name and n)
    yield from _table("filter | why | number", (f"{name} | {reason_label(name)} | {n:,}" for name, n in why))
    yield ""
    told = content.label_figures
    if told.decisions is None:
        given = f"{told.of_people:,} labels, with the decisions of adjudicators,"
    else:
        given = f"{told.of_people - told.decisions:,} labels and {told.decisions:,} decisions of adjudicators,"
    yield f"{asked:,} questions. {given}"
    yield f"by {told.people:,} people; {told.elsewhere:,} labels made elsewhere."


def _agreement(found: LabelFigures) -> Iterator[str]:
    raw, alpha, ac1 = found.agreement
    yield f"{found.doubles:,} triples have two labels, {raw.n:,} of them yes or no from both."
    yield "Agreement of the two people, before a third person decided:"
    if raw.value is not None and raw.interval:
        yield f"The same answer: {raw.value:.4f} (95 % {raw.interval[0]:.4f} to {raw.interval[1]:.4f})."
    yield f"Krippendorff's alpha: {_coefficient(alpha)}. Gwet's AC1: {_coefficient(ac1)}."


def _named(system: str) -> str:
    """Return the name of a system as in the literature, with that of the files beside it where it differs."""
    shown = shown_name(system)
    return system if shown == system else f"{shown} (`{system}`)"


def _coefficient(of: Coefficient) -> str:
    return f"undefined ({of.reason})" if of.value is None else f"{of.value:.4f}"


def _measures(content: Content, answered: int) -> Iterator[str]:
    if content.measures is None:
        yield "None: no system had a complete run when the qrels were frozen, or they were left out."
        return
    yield "Under these judgements, assumed negatives among them. Means over positive answers (micro) or over the"
    yield f"{answered:,} questions that have one (the others)."
    yield ""
    table, sums = content.measures
    if (common := max(of.question.size for of in sums.values())) < answered:
        yield f"Systems are compared on the {common:,} questions that all of them were asked."
    if table.dropped:
        yield f"Without {', '.join(table.dropped)}, asked less than half of the questions."
    means = np.array([of.mean() for of in sums.values()])
    rows = {system: means[:, table.systems.index(system)] for system in content.systems if system in table.systems}
    yield from _table(
        " | ".join(["system", *sums]),
        (
            " | ".join([_named(system), *("undefined" if np.isnan(value) else f"{value:.4f}" for value in row)])
            for system, row in rows.items()
        ),
    )


def _limits(frozen: Frozen) -> Iterator[str]:
    unjudged = int((frozen.state == LabelState.UNJUDGED).sum())
    yield "- It is complete relative to the pool: what no system returned within the depth nobody has judged."
    yield "- Assumed negatives were filtered by a rule; no person has looked at them, unless they have a label."
    yield f"- {unjudged:,} pooled triples are unjudged. Unjudged is not negative."
    yield "- A system that did not contribute may find right answers that are not in the pool."
    yield "- Comments of people are free text that may name somebody, and are left out. Annotators are pseudonyms, the"
    yield "  same in all files of these qrels and others in other qrels."
    yield "- Cells of all files are as in the source, also those that a spreadsheet takes for a formula (=, +, -, @):"
    yield "  import them as text."


def _use(asked: int, answered: int, names: Sequence[str]) -> Iterator[str]:
    trec = "trec/qrels.txt" + " and trec/runs/" * any(name.startswith("trec/runs/") for name in names)
    yield "Hugging Face's `datasets.load_dataset(folder)` gives train, validation and test triples, and"
    yield "`load_dataset(folder, 'judgements')` another table; `pandas.read_json('labels.jsonl', lines=True)` gives the"
    yield "labels. In mlcroissant:"
    yield f"`Dataset('croissant.json').records('judgements')`. pytrec_eval and ir_measures read {trec}."
    yield f"Only {answered:,} of the {asked:,} questions have a positive answer: leave the others"
    yield "out of means there, as here."
    yield f"In {trec} white space and % of ids are percent-encoded."


def _elsewhere(content: Content, names: Sequence[str]) -> Iterator[str]:
    if "score.py" in names:
        yield "`python score.py` computes all of measures.tsv from judgements.tsv and ranks/, with numpy alone."
    if content.placed is not None and any(name.startswith("trec/runs/") for name in names):
        yield from trec_words(content.depth, content.placed, with_negatives=not content.options.positives_only)
    yield ""
    yield "In PyKEEN, of any `model` of `train`, micro measures are those of both sides with realistic ranks. Test"
    yield "triples that were not sampled are known facts, and have to be filtered too:"
    yield ""
    yield from ("```python", *_SPLITS.splitlines(), "```", "", "```python", *_EVALUATION.splitlines(), "```")


def _as_text(words: str) -> str:
    """Return what a person wrote without HTML: Markdown would pass it on to whoever shows the card."""
    return words.replace("<", "&lt;")


def _in_a_line(words: str) -> str:
    """Return what a person wrote as text of one line."""
    return " ".join(_as_text(words).split())


def _as_lines(words: str) -> str:
    """Return what a person wrote as text of its own lines, not one of which begins a heading, a list or code."""
    return re.sub(r"^( *)([#>*+=~`|-])", r"\1\\\2", _as_text(words), flags=re.MULTILINE)


def _in_a_cell(words: str) -> str:
    """Return what a person wrote as text of one cell; readers differ about a bar behind several backslashes."""
    return _in_a_line(words).replace("\\", "&#92;").replace("|", "\\|")


def _terms(content: Content) -> Iterator[str]:
    qrels, terms = content.qrels, content.terms
    yield _as_lines(in_words(terms.licence)) or "No licence was named: ask whoever gave you this."
    if terms.licence and not is_spdx(terms.licence):
        yield "These are terms of their own, not a licence of the SPDX list."
    yield "The graph has the licence of its publisher."
    yield ""
    if creators := creators_of(terms):
        people = "; ".join(f"{one.name} ({one.address})" if one.orcid else one.name for one in creators)
        yield f"By {_in_a_line(people)}."
    if terms.url:
        yield f"Address: <{terms.url.replace('<', '%3C').replace('>', '%3E')}>"
    yield _as_lines(terms.citation or f"Cite as: {suggested_citation(qrels, terms)}")
    yield ""
    yield f"This is version {terms.version} of these terms. Another version differs in this card, CITATION.cff,"
    yield "CITATION.bib, datacite.json, croissant.json, ro-crate-metadata.json and the checksums; all other files are"
    yield "the same bytes."
    if terms.version > 1:
        yield ""
        earlier = qrels.terms.filter(version__lte=terms.version).order_by("version")
        what = (_in_a_cell(one.changed) or "frozen" for one in earlier)
        rows = (
            f"{one.version} | {one.created_at:%Y-%m-%d} | {words}" for one, words in zip(earlier, what, strict=True)
        )
        yield from _table("version | date | what changed", rows)


def _files(names: Sequence[str]) -> Iterator[str]:
    # a folder's files begin with its name
    shown = [file for file in FILES if file.name in _LAST or any(name.startswith(file.name) for name in names)]
    yield from _table("file | what", (f"{file.name} | {file.about}" for file in shown))
