"""Show what was read before anything is written: three triples of each split, counts, ignored files, doubts."""

from collections.abc import Iterator

from pooling.enums import Split
from pooling.graphs.source_data import SideTable, plural
from pooling.layouts.layout import Found
from pooling.layouts.recognise import Reading

SHOWN, MOST_IGNORED = 3, 20


def beside(found: Found) -> dict[str, SideTable | None]:
    """Return what came with the triples, by its name for people."""
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
    found = reading.found
    yield f"Read as {found.layout}."
    if reading.drawn:
        names = " and ".join(split.value for split in reading.drawn)
        yield f"Not in the files: {names}. Drawn from train, in which every entity and relation stays."
    for split in Split:
        triples = found.splits[split]
        yield f"{split.value}: {plural(len(triples.rows), 'triple')} of {triples.file} ({triples.form})"
        yield from (f"    {h} | {r} | {t}" for h, r, t in triples.rows[:SHOWN])
    for name, table in beside(found).items():
        if table:
            yield f"{name}: {plural(len(table.rows), 'line')} of {table.file}"
    if reading.link_pattern:
        yield f"links of other entities: {reading.link_pattern}"
    if reading.ignored:
        more = len(reading.ignored) - MOST_IGNORED
        names = ", ".join(reading.ignored[:MOST_IGNORED]) + (f" and {more} more" if more > 0 else "")
        yield f"not read: {names}"
    yield from (f"Warning: {warning}" for warning in found.warnings)
