"""Turn the rows of a source into a graph: drop or report faulty rows, and give ids."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pooling.enums import Split
from pooling.graphs.entity_texts import link_problem, pattern_problem, texts_table
from pooling.graphs.kernels.degrees import relation_categories
from pooling.graphs.kernels.graph_arrays import GraphArrays, Ids
from pooling.graphs.source_data import (
    MAX_EXAMPLES,
    MOST_PROBLEMS,
    Codes,
    GraphError,
    GraphSourceData,
    SideTable,
    SplitRows,
    plural,
    raise_problems,
    report_entry,
)
from pooling.questions.templates import TemplateError, TemplateText, check_template

MAX_RELATION_LENGTH = 500  # as pooling.models.Relation has it
UNKEPT = re.compile(r"[\0\t\n\r]")
Mask = npt.NDArray[np.bool_]
Report = list[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class CheckedGraph:
    """Hold what is stored of a graph."""

    arrays: GraphArrays
    closed_world: Ids | None
    templates: dict[int, TemplateText]
    texts: pa.Table  # of entities: id, description, aliases, link
    link_pattern: str
    report: Report


def check_source(source: GraphSourceData, unseen: str) -> CheckedGraph:
    """Drop repeats and leaks (and, with unseen 'drop', triples with entities that train lacks); give ids.

    Ids follow first appearance in the kept train, valid and test triples, then in the closed world.
    """
    _check_links(source)
    raise_problems([*_unkept_names(source), *_long_relations(source), *_odd_domains(source), *_odd_templates(source)])
    report: Report = list(source.report)
    kept = _drop_repeats(source, report)
    kept = _unseen_entities(source, kept, unseen, report)
    _unseen_relations(source, kept, report)
    for split, rows in source.splits.items():
        if not kept[split].any():
            raise GraphError(
                f"{rows.file}: no triple is left in {split.value} after repeats, leaks and unseen entities "
                "were dropped: a graph needs train, valid and test triples."
            )
    triples = [source.splits[split].rows[kept[split]] for split in Split]
    world = source.closed_world
    if world is not None and unseen == "drop":
        known = np.isin(world[:, [0, 2]], np.concatenate(triples)[:, [0, 2]]).all(axis=1)
        world = world[known]
    entities, relations, ids = _give_ids(source.keys, [*triples, *([] if world is None else [world])])
    tables = _Tables(report, entities, relations)
    domain_range = tables.values(source.domain_range, tables.relations, "domain and range", "relation")
    arrays = GraphArrays(
        entities=entities,
        labels=tables.one(source.labels, tables.entities, "label", "entity"),
        types=tables.several(source.types, "type"),
        relations=relations,
        categories=relation_categories(ids[0], len(relations)),
        domains=[domain for domain, _ in domain_range],
        ranges=[range_ for _, range_ in domain_range],
        train=ids[0],
        valid=ids[1],
        test=ids[2],
        relation_labels=tables.one(source.relation_labels, tables.relations, "label", "relation"),
    )
    texts = tables.values(source.templates, tables.relations, "template", "relation", ())
    templates = {relation: TemplateText(*text) for relation, text in enumerate(texts) if text}
    told = texts_table(
        tables.one(source.descriptions, tables.entities, "description", "entity"),
        tables.several(source.aliases, "alias"),
        tables.one(source.links, tables.entities, "link", "entity"),
    )
    closed_world = None if world is None else ids[3]
    return CheckedGraph(arrays, closed_world, templates, told, source.link_pattern, report)


def _check_links(source: GraphSourceData) -> None:
    """Raise GraphError that names each line with a link that cannot be shown, or says why the pattern cannot."""
    if source.link_pattern and (problem := pattern_problem(source.link_pattern)):
        raise GraphError(f"The link pattern {source.link_pattern} {problem}.")
    table = source.links
    if table is None:
        return
    wrong = ((i, row[1], link_problem(row[1])) for i, row in enumerate(table.rows))
    what = "line" if table.has_lines else "entry"
    raise_problems(
        [
            f"{table.place(i)}: the link {link[:80]} {problem}: correct the {what} or remove it."
            for i, link, problem in wrong
            if problem
        ]
    )


def _unkept_names(source: GraphSourceData) -> Iterator[str]:
    """Tell of each triple with a name that holds NUL, which no database keeps, or a line break."""
    wrong = np.array([bool(UNKEPT.search(key)) for key in source.keys], bool)
    for split in source.splits.values():
        for row in np.flatnonzero(wrong[split.rows].any(axis=1))[:MOST_PROBLEMS].tolist():
            name = next(source.keys[code] for code in split.rows[row] if wrong[code])
            yield (
                f"{split.file}:{split.line(row)}: the name {name[:80]!r} has a tab, a line break or a NUL: take it out."
            )


def _long_relations(source: GraphSourceData) -> Iterator[str]:
    """Tell of each triple with a relation that is too long for its column of the database."""
    wrong = np.array([len(key) > MAX_RELATION_LENGTH for key in source.keys], bool)
    for split in source.splits.values():
        for row in np.flatnonzero(wrong[split.rows[:, 1]])[:MOST_PROBLEMS].tolist():
            length = len(source.keys[split.rows[row, 1]])
            place = f"{split.file}:{split.line(row)}"
            yield f"{place}: the relation has {length:,} characters: shorten it to {MAX_RELATION_LENGTH}."


def _odd_domains(source: GraphSourceData) -> Iterator[str]:
    """Tell of each domain or range that its column of the database does not keep."""
    table = source.domain_range
    for i, (_, *texts) in enumerate(table.rows if table else []):
        for what, text in zip(("domain", "range"), texts, strict=True):
            if len(text) > MAX_RELATION_LENGTH:
                place = table.place(i)  # type: ignore[union-attr]
                yield f"{place}: the {what} has {len(text):,} characters: shorten it to {MAX_RELATION_LENGTH}."


def _odd_templates(source: GraphSourceData) -> Iterator[str]:
    """Tell of each line of templates that cannot be asked."""
    table = source.templates
    for i, (_, *texts) in enumerate(table.rows if table else []):
        try:
            check_template(*texts)
        except TemplateError as error:
            yield f"{table.place(i)}: {error}."  # type: ignore[union-attr]


def _give_ids(keys: list[str], triples: list[Codes]) -> tuple[list[str], list[str], list[Ids]]:
    """Return entity keys, relation keys, and the triples as int32 ids, in order of first appearance."""
    import pandas as pd  # pages need none of it, and it takes 50 MB

    together = np.concatenate(triples)
    entity_ids, entities = pd.factorize(together[:, [0, 2]].ravel())
    relation_ids, relations = pd.factorize(together[:, 1])
    ids = np.empty((len(together), 3), np.int32)
    ids[:, [0, 2]] = entity_ids.reshape(-1, 2)
    ids[:, 1] = relation_ids
    parts = np.split(ids, np.cumsum([len(part) for part in triples])[:-1])
    return [keys[i] for i in entities], [keys[i] for i in relations], [part.copy() for part in parts]


# --- repeats, leaks, unseen -----------------------------------------------------------------------


def _places(source: GraphSourceData) -> Callable[[int], str]:
    """Return a function that names a row, counted through train, valid and test: 'test.tsv:12'."""
    parts = list(source.splits.values())
    starts = np.cumsum([0, *(len(part.rows) for part in parts)])

    def place(row: int) -> str:
        part = int(np.searchsorted(starts, row, side="right")) - 1
        return f"{parts[part].file}:{parts[part].line(row - int(starts[part]))}"

    return place


def _triple(source: GraphSourceData, row: npt.NDArray[np.int64]) -> str:
    return " ".join(source.keys[code] for code in row)


def _drop_repeats(source: GraphSourceData, report: Report) -> dict[Split, Mask]:
    """Keep the first of equal triples; report others as duplicates of their split or leaks into a later one."""
    import pandas as pd  # pages need none of it, and it takes 50 MB

    parts = [source.splits[split].rows for split in Split]
    rows = np.concatenate(parts)
    split_of = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    pairs, _ = pd.factorize(rows[:, 0] * len(source.keys) + rows[:, 2])
    number, _ = pd.factorize(pairs * len(source.keys) + rows[:, 1])  # equal for equal triples
    repeat = pd.Series(number).duplicated().to_numpy()
    first = np.flatnonzero(~repeat)[number]  # factorize counts in order of first appearance
    place = _places(source)

    def tell(kind: str, which: Mask, what: str, verb: str) -> None:
        found = np.flatnonzero(which)
        if len(found):
            examples = (
                f"{place(i)} {verb} {place(first[i])} ({_triple(source, rows[i])})" for i in found[:MAX_EXAMPLES]
            )
            report.append(report_entry(kind, len(found), f"{plural(len(found), 'triple')} {what}", examples))

    inside = repeat & (split_of == split_of[first])
    tell("duplicate-triples", inside, "stood more than once in a split; the first was kept.", "repeats")
    leak = repeat & ~inside
    tell("leaking-triples", leak, "stood in an earlier split too; dropped from the later one.", "is also")
    return dict(zip(Split, np.split(~repeat, np.cumsum([len(part) for part in parts])[:-1]), strict=True))


def _unseen(
    source: GraphSourceData, kept: dict[Split, Mask], columns: list[int]
) -> tuple[dict[Split, Mask], set[int], list[str]]:
    """Find kept valid and test triples with a name in `columns` that train lacks there.

    Returns which triples of each split, the names as indices into `source.keys`, and examples.
    """
    seen = np.zeros(len(source.keys), bool)
    seen[source.splits[Split.TRAIN].rows[:, columns]] = True
    found: dict[Split, Mask] = {}
    names: set[int] = set()
    examples: list[str] = []
    for split in (Split.VALID, Split.TEST):
        part = source.splits[split]
        new = ~seen[part.rows[:, columns]] & kept[split][:, None]
        found[split] = np.asarray(new.any(axis=1))
        names.update(part.rows[:, columns][new].tolist())
        examples += _examples(source, part, new, columns)
    return found, names, examples[:MAX_EXAMPLES]


def _unseen_entities(
    source: GraphSourceData, kept: dict[Split, Mask], unseen: str, report: Report
) -> dict[Split, Mask]:
    """Report valid and test triples with an entity that train lacks; take them out if `unseen` is 'drop'."""
    new, entities, examples = _unseen(source, kept, [0, 2])
    if entities:
        counts = {split: int(which.sum()) for split, which in new.items()}
        found = " and ".join(plural(count, f"{split.value} triple") for split, count in counts.items() if count)
        verb = "have" if sum(counts.values()) > 1 else "has"
        what = "were dropped" if unseen == "drop" else "are kept. To leave them out, drop unseen entities in the import"
        names = plural(len(entities), "entity", "entities")
        message = f"{found} {verb} {names} that train does not have; they {what}."
        report.append(report_entry("unseen-entities", len(entities), message, examples))
    if unseen != "drop":
        return kept
    return {**kept, **{split: kept[split] & ~which for split, which in new.items()}}


def _unseen_relations(source: GraphSourceData, kept: dict[Split, Mask], report: Report) -> None:
    """Report relations that no training triple has; they are kept, without a category."""
    _, relations, examples = _unseen(source, kept, [1])
    if relations:
        names = plural(len(relations), "relation")
        message = f"{names} of valid or test that train does not have; kept, without a category."
        report.append(report_entry("unseen-relations", len(relations), message, examples))


def _examples(source: GraphSourceData, part: SplitRows, new: Mask, columns: list[int]) -> list[str]:
    """Return 'test.tsv:12 key' for the first marked fields; `new` is bool[n, len(columns)]."""
    rows = np.flatnonzero(new.any(axis=1))[:MAX_EXAMPLES]
    return [
        f"{part.file}:{part.line(int(row))} {source.keys[part.rows[row, column]]}"
        for row in rows
        for i, column in enumerate(columns)
        if new[row, i]
    ]


# --- labels, types, domain and range, templates ---------------------------------------------------


class _Tables:
    """Look up side tables by id; report names that the graph lacks, and second lines on a name."""

    def __init__(self, report: Report, entities: list[str], relations: list[str]) -> None:
        self.report = report
        self.entities = {key: i for i, key in enumerate(entities)}
        self.relations = {key: i for i, key in enumerate(relations)}

    def values(
        self, table: SideTable | None, index: dict[str, int], what: str, name: str, default: tuple[str, ...] = ("", "")
    ) -> list[tuple[str, ...]]:
        """Return the columns after the name, by id; the first line on a name counts."""
        result = [default] * len(index)
        if table is None:
            return result
        rows: dict[int, int] = {}
        repeated: list[str] = []
        for row, (key, *columns) in enumerate(table.rows):
            i = index.get(key)
            if i is None:
                continue
            if i not in rows:
                rows[i], result[i] = row, tuple(columns)
            elif result[i] != tuple(columns):
                repeated.append(f"{table.place(row)} differs from {table.place(rows[i])} on {key}")
        self._unknown(table, index, what, name)
        if repeated:
            message = f"{table.counted(len(repeated))} with a second {what} for {_a(name)}; the first was kept."
            kind = f"repeated-{what.replace(' ', '-')}"
            self.report.append(report_entry(kind, len(repeated), message, repeated[:MAX_EXAMPLES]))
        return result

    def one(self, table: SideTable | None, index: dict[str, int], what: str, name: str) -> list[str]:
        """Return the only column after the name, by id; "" where there is none."""
        return [text for (text,) in self.values(table, index, what, name, ("",))]

    def several(self, table: SideTable | None, what: str) -> list[tuple[str, ...]]:
        """Return all types or aliases of each entity id, in the order of the file, each once."""
        found: list[dict[str, None]] = [{} for _ in self.entities]
        if table:
            for entity, text in table.rows:
                if entity in self.entities:
                    found[self.entities[entity]][text] = None
            self._unknown(table, self.entities, what, "entity")
        return [tuple(texts) for texts in found]

    def _unknown(self, table: SideTable, index: dict[str, int], what: str, name: str) -> None:
        unknown = [(i, row[0]) for i, row in enumerate(table.rows) if row[0] not in index]
        if unknown:
            kind = f"unknown-{'entities' if name == 'entity' else 'relations'}"
            of = table.file if table.has_lines else f"{table.file} ({what})"
            message = f"{table.counted(len(unknown))} of {of} on {_a(name)} that no triple has; ignored."
            examples = (f"{table.place(i)} {key}" for i, key in unknown[:MAX_EXAMPLES])
            self.report.append(report_entry(kind, len(unknown), message, examples))


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
