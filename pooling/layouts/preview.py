"""Show what was read before anything is written: three triples of each split, counts, ignored files, doubts."""

from collections.abc import Iterator
from typing import NamedTuple

from pooling.enums import Split
from pooling.graphs.source_data import SideTable, plural
from pooling.layouts.layout import Found, Triples
from pooling.layouts.recognise import Reading

SHOWN, MOST_IGNORED = 3, 100


class SplitPreview(NamedTuple):
    split: str
    file: str
    form: str  # how it was read
    triples: int
    first: list[tuple[str, str, str]]


class Beside(NamedTuple):
    """What came with the triples: labels, types and so on."""

    name: str
    file: str
    lines: int
    counted: str  # in words


class Preview(NamedTuple):
    """What was read, for people to confirm."""

    layout: str
    drawn: list[str]  # splits that the source did not have
    splits: list[SplitPreview]
    entities: int
    relations: int
    beside: list[Beside]
    link_pattern: str
    ignored: list[str]  # the first files that were not read
    num_ignored: int
    warnings: list[str]

    @property
    def more_ignored(self) -> int:
        return self.num_ignored - len(self.ignored)

    @property
    def triples(self) -> int:
        return sum(split.triples for split in self.splits)


def preview_of(reading: Reading) -> Preview:
    """Return what is shown of a graph that was read."""
    found = reading.found
    rows = [row for split in Split for row in found.splits[split].rows]
    return Preview(
        found.layout,
        [split.value for split in reading.drawn],
        [_split(split, found.splits[split]) for split in Split],
        len({name for h, _, t in rows for name in (h, t)}),
        len({r for _, r, _ in rows}),
        [
            Beside(name, table.file, len(table.rows), table.counted(len(table.rows)))
            for name, table in _beside(found).items()
            if table
        ],
        reading.link_pattern,
        reading.ignored[:MOST_IGNORED],
        len(reading.ignored),
        found.warnings,
    )


def _split(split: Split, triples: Triples) -> SplitPreview:
    return SplitPreview(split.value, triples.file, triples.form, len(triples.rows), triples.rows[:SHOWN])


def _beside(found: Found) -> dict[str, SideTable | None]:
    return {
        "labels": found.labels,
        "labels of relations": found.relation_labels,
        "types": found.types,
        "descriptions": found.descriptions,
        "aliases": found.aliases,
        "links": found.links,
        "domains and ranges": found.domain_range,
        "templates": found.templates,
    }


def preview_lines(reading: Reading) -> Iterator[str]:
    """Yield the lines of the preview."""
    shown = preview_of(reading)
    yield f"Read as {shown.layout}."
    if shown.drawn:
        names = " and ".join(shown.drawn)
        yield f"Not in the files: {names}. Drawn from train; every entity and relation stays in train."
    for split in shown.splits:
        yield f"{split.split}: {plural(split.triples, 'triple')} of {split.file} ({split.form})"
        yield from (f"    {h} | {r} | {t}" for h, r, t in split.first)
    yield f"in all: {plural(shown.entities, 'entity', 'entities')}, {plural(shown.relations, 'relation')}"
    for table in shown.beside:
        yield f"{table.name}: {table.counted} of {table.file}"
    if shown.link_pattern:
        yield f"links of other entities: {shown.link_pattern}"
    if shown.ignored:
        more = f" and {shown.more_ignored} more" if shown.more_ignored else ""
        yield f"not read: {', '.join(shown.ignored)}{more}"
    yield from (f"Warning: {warning}" for warning in shown.warnings)
