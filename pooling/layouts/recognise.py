"""Find the layout of a source and read it: the first layout that knows its files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from pooling.enums import GraphSource, Split
from pooling.graphs.entity_texts import pattern_problem
from pooling.graphs.source_data import GraphError, GraphSourceData, SplitRows, Together, plural, report_entry
from pooling.graphs.tsv import encode
from pooling.layouts import numbered, plain, published
from pooling.layouts.doubts import doubts, headers
from pooling.layouts.layout import Found, LayoutOptions, Triples
from pooling.layouts.neo4j import neo4j
from pooling.layouts.rdf import rdf
from pooling.layouts.side_files import read_side_files, tidy
from pooling.layouts.source_files import SourceFiles, open_source
from pooling.layouts.splitter import divide

Reader = Callable[[SourceFiles, LayoutOptions], Found | None]
LAYOUTS: tuple[Reader, ...] = (
    numbered.openke, numbered.libkge, published.ogb, published.hetionet, neo4j, rdf,
    plain.three_files, plain.one_file,
)  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """Hold a graph as it was read; `ignored`: files that no layout looked at."""

    found: Found
    ignored: list[str]
    drawn: list[Split]  # splits that the source did not have
    link_pattern: str = ""

    def source_data(self) -> GraphSourceData:
        """Return what the importer checks and stores."""
        found = self.found
        flat = [
            pa.array([name for row in found.splits[split].rows for name in row], pa.large_string()) for split in Split
        ]
        keys, rows = encode(flat)
        splits = {
            split: SplitRows(found.splits[split].file, rows[i], _lines(found.splits[split]))
            for i, split in enumerate(Split)
        }
        report = [report_entry("layout", 1, f"Read as {found.layout}.", ())]
        report += [report_entry("doubt", 1, warning, ()) for warning in found.warnings]
        return GraphSourceData(
            GraphSource.TSV,
            keys,
            splits,
            tidy(found.labels),
            tidy(found.types),
            found.domain_range,
            found.templates,
            relation_labels=tidy(found.relation_labels),
            descriptions=tidy(found.descriptions),
            aliases=tidy(found.aliases),
            links=found.links,
            link_pattern=self.link_pattern,
            report=report,
        )


def read_layout(
    path: str | Path, options: LayoutOptions | None = None, *, name: str = "", most: int | None = None
) -> Reading:
    """Read a folder, archive or file. GraphError says what is missing or which line is wrong.

    `name`: what messages call it; `most`: bytes of all its files when unpacked.
    """
    asked = options or LayoutOptions()
    if asked.link_pattern and (problem := pattern_problem(asked.link_pattern)):
        raise GraphError(f"The link pattern {asked.link_pattern} {problem}.")
    source = open_source(Path(path), name, most)
    together = Together()
    found = together(_first_layout, source, asked)
    if together.errors:  # say in one message what is wrong in the files beside the triples too
        read_side_files(source, Found("", {}), together)
        together.raise_any()
    if found is None:
        names = ", ".join(list(source)[:5])
        raise GraphError(
            f"{source.name} has no triples in a layout that is known ({names}): docs/formats.md has a table of them."
        )
    found.warnings += headers(found)
    drawn = _draw_missing(found, asked)
    read_side_files(source, found, together)
    together.raise_any()
    found.warnings += doubts(found)
    ignored = [name for name in source if name not in found.used]
    return Reading(found, ignored, drawn, asked.link_pattern)


def _first_layout(source: SourceFiles, asked: LayoutOptions) -> Found | None:
    return next((of for layout in LAYOUTS if (of := layout(source, asked)) is not None), None)


def _draw_missing(found: Found, asked: LayoutOptions) -> list[Split]:
    """Draw valid and test, or valid alone, from train where there are none; return which."""
    missing = [split for split in Split if split not in found.splits]
    if Split.TEST in missing and Split.VALID not in missing:
        there = ", ".join(found.splits[split].file for split in Split if split in found.splits)
        raise GraphError(f"There is no file of test beside {there}: add it, or take valid away and have both drawn.")
    if missing:
        shares = dict(zip((Split.VALID, Split.TEST), asked.shares, strict=True))
        train = found.splits[Split.TRAIN]
        parts = divide(train, {split: shares[split] for split in missing}, asked.seed)
        if repeats := len(train.rows) - sum(len(part.rows) for part in parts.values()):
            found.warnings.append(f"{train.file}: {plural(repeats, 'triple')} more than once; the first was kept.")
        found.splits = {**found.splits, **parts}
    return missing


def _lines(triples: Triples) -> np.ndarray | None:
    return np.array(triples.lines, dtype=np.int64) if triples.lines else None
