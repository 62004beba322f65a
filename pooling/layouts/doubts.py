"""Warn of what is mostly a mistake in a graph that was read: headers, swapped columns, missing or useless labels."""

import re
from collections.abc import Iterator

from pooling.layouts.layout import Found
from pooling.questions.relation_names import is_readable

ID = re.compile(  # of Freebase (with and without m), addresses, and numbers behind a short prefix (Q5, GO:0008150)
    r"^(/m/\w+|m\.\w+|0[0-9b-df-hj-np-tv-z_]{2,7}|https?://\S+|[A-Za-z]{0,8}[-:._]{0,2}\d+)$"
)
PLAUSIBLE, FEW = 0.5, 100  # relations for each entity; relations of which no doubt is raised


def doubts(found: Found) -> list[str]:
    """Return a sentence for each doubt about the names of a graph."""
    return [*_relations(found), *_labels(found), *_relation_labels(found)]


def headers(found: Found) -> Iterator[str]:
    """Yield a sentence for each first line that may be a header; before splits are drawn, which move lines."""
    first_lines = [of for of in found.splits.values() if len(of.rows) and list(of.lines[:1]) == [1]]
    others = {name for of in found.splits.values() for row in of.rows[of in first_lines :] for name in row}
    for triples in first_lines:
        first = triples.rows[0]
        if others and others.isdisjoint(first):
            yield (
                f"{triples.file}:1 ({', '.join(first)}) has no name in common with other lines: is it a header?"
                " If so, set --header to yes."
            )


def _relations(found: Found) -> Iterator[str]:
    rows = [row for triples in found.splits.values() for row in triples.rows]
    entities, relations = {name for h, _, t in rows for name in (h, t)}, {r for _, r, _ in rows}
    if len(relations) > max(FEW, PLAUSIBLE * len(entities)):
        yield (
            f"{len(relations):,} relations for {len(entities):,} entities are many: are head, relation and tail in this"
            " order? Otherwise give --columns."
        )


def _labels(found: Found) -> Iterator[str]:
    entities = {name for triples in found.splits.values() for h, _, t in triples.rows for name in (h, t)}
    labels = {row[0]: row[1] for row in found.labels.rows} if found.labels else {}
    if not labels:
        if (ids := sum(bool(ID.match(name)) for name in entities)) > len(entities) / 2:
            yield (
                f"{ids:,} of {len(entities):,} entities are ids without labels: people would be asked about ids. Add"
                " entity_labels.tsv."
            )
        elif entities:
            yield (
                f"{len(entities):,} of {len(entities):,} entities have no label: people would read names such as"
                f" {min(entities)}. To change that, add entity_labels.tsv"
                " (a line for each entity: its name here, a tab, its label)."
            )
        return
    if without := sum(name not in labels for name in entities):
        yield f"{without:,} of {len(entities):,} entities have no label."
    ids = sum(labels[name] == name or bool(ID.match(labels[name])) for name in entities if name in labels)
    if ids > len(entities) / 2:
        yield f"{ids:,} of {len(entities):,} labels are ids themselves: people would be asked about ids."


def _relation_labels(found: Found) -> Iterator[str]:
    relations = {r for triples in found.splits.values() for _, r, _ in triples.rows}
    labels = {row[0]: row[1] for row in found.relation_labels.rows} if found.relation_labels else {}
    unreadable = sorted(name for name in relations if not is_readable(labels.get(name) or name))
    if unreadable:
        yield (
            f"{len(unreadable):,} of {len(relations):,} relations have no readable name or label, such as"
            f" {unreadable[0]}: a campaign opens only when somebody has written their questions. Add"
            " relation_labels.tsv, or write the questions later."
        )
