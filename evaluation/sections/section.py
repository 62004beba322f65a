"""Define an analysis: a page of sections, each a chart with its table, made from label sets and settings.

Pages, JSON, CSV and the report are written from the same sections.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from core.callbacks import Tell
from core.models import Job
from evaluation.labels.label_sets import LabelSet, label_set
from evaluation.labels.pool_table import PoolTable, pool_table
from evaluation.labels.scored_runs import trained_here
from evaluation.measures.label_state import positive
from evaluation.measures.rank_table import Floats
from evaluation.measures.registry import Measure, parse_measure
from evaluation.sections.settings import Settings
from evaluation.statistics.seeds import SeedSpread, spread_over_seeds
from pooling.models import Pool

Json = dict[str, Any]
SYSTEMS = "systems"  # the setting that every page takes
# A cell: text, a count, a number; or a mapping with value (null: undefined, for its reason), low and high, moved,
# or mean, sd and n over the seeds that a value stands for, or the label that pages show for a key
Cell = str | int | float | None | Json


@dataclass(frozen=True)
class Column:
    key: str
    label: str
    kind: str = "value"  # text, count, value (decimals by size), share (of 1, as percent), p, measure, system, systems
    note: str = ""  # what it is, shown on hover


@dataclass(frozen=True)
class Table:
    key: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    best: Sequence[Sequence[int]] = ()  # cells that are the best of their column: [row, column]
    foot: Sequence[Cell] = ()  # one more row: n
    in_files: bool = False  # too long for a page: CSV and JSON have it


@dataclass(frozen=True)
class Chart:
    """Draw lines, grid, panels, slope, matrix, box, bars, points, winners or surfaces of `data` (core/charts)."""

    kind: str
    label: str  # what a screen reader says
    data: Json


@dataclass(frozen=True)
class Action:
    """Show managers a button under a section: POST to a route of the pool, with hidden fields."""

    label: str
    route: str
    fields: dict[str, str]


@dataclass(frozen=True)
class Link:
    """Lead managers from a section to a page of the pool that its words name."""

    label: str
    route: str


ORDER_OF_JUDGING = Link("Order of judging", "campaign-order")


@dataclass(frozen=True)
class Section:
    key: str
    title: str
    text: str  # what is this, two sentences
    caption: str  # label set, n, alpha, test, correction, seed
    tables: Sequence[Table]
    chart: Chart | None = None
    finding: str = ""  # what it says, in words
    notes: Sequence[str] = ()  # what to beware of: undefined values and why, systems left out
    actions: Sequence[Action] = ()
    links: Sequence[Link] = ()

    def content(self) -> Json:
        found = asdict(self)
        for without in ("actions", "links"):
            if not found[without]:
                del found[without]
        return found


@dataclass(frozen=True)
class Context:
    """Hold what a part is computed from: pool, settings, label sets, measures."""

    pool: Pool
    settings: Settings
    progress: Tell | None = None
    full_test: bool = False  # it shows full test, whatever its label sets are
    trained_only: bool = False  # it leaves imported runs out

    @cached_property
    def table(self) -> PoolTable:
        """Return the systems that are compared, on the questions that all of them were asked."""
        full_test = self.full_test or "full-test" in (self.settings.labels, self.settings.against)
        asked = self.settings.systems
        names = trained_here(self.pool, asked) if self.trained_only else asked
        table = pool_table(self.pool, names, full_test=full_test)
        return table.folded if self.settings.by_family else table

    @cached_property
    def each(self) -> "Context":
        """Return this context with every seed as a system of its own."""
        return replace(self, settings=replace(self.settings, seeds="each")) if self.settings.by_family else self

    @property
    def is_folded(self) -> bool:
        """Tell whether a system of the table stands for several seeds."""
        return self.settings.by_family and len(self.systems) < len(self.each.systems)

    @property
    def seeds_of(self) -> dict[str, list[str]]:
        """Return by system the names of the seeds that it stands for, itself first."""
        every = self.each.systems
        if not self.is_folded:
            return {name: [name] for name in self.systems}
        return {every[family[0]]: [every[i] for i in family] for family in self.each.table.families}

    @property
    def drawn_families(self) -> list[list[int]] | None:
        """Return the families whose seeds intervals draw; None where none are drawn."""
        return self.families or None if self.settings.training == "drawn" else None

    @property
    def families(self) -> list[list[int]]:
        """Return the families that systems stand for, as indices of `each.systems`; [] where they stand for none."""
        return self.each.table.families if self.is_folded else []

    def spread(self, values: Callable[["Context"], Floats]) -> SeedSpread | None:
        """Return the spread over seeds of `values` [systems, …] of a context, by the systems of this one.

        None where no system stands for several seeds: nothing is computed then.
        """
        return spread_over_seeds(values(self.each), self.families) if self.is_folded else None

    @property
    def systems(self) -> list[str]:
        return self.table.systems

    @cached_property
    def labels(self) -> LabelSet:
        return label_set(self.pool, self.table, self.settings.labels, self.settings.questions)

    @cached_property
    def against(self) -> LabelSet:
        return label_set(self.pool, self.table, self.settings.against, self.settings.questions)

    @cached_property
    def measures(self) -> list[Measure]:
        return [parse_measure(name) for name in self.settings.measures]

    def rng(self, part: int = 0) -> np.random.Generator:
        """Return a generator that depends on the seed and the part alone."""
        return np.random.default_rng([self.settings.seed, part])


@dataclass(frozen=True)
class Part:
    """Describe a piece of a page that is computed and kept by itself; `heavy`: by a job."""

    key: str
    compute: Callable[[Context], list[Section]]
    heavy: bool = False
    title: str = ""  # of a heavy part: what the button computes
    at_once: bool = False  # a heavy part that of frozen qrels, which never change, is computed without being asked for
    labels: str = ""  # the label set that it is always of; empty: that of the settings
    needs: str = ""  # a section of an earlier part without which there is nothing to compute


@dataclass(frozen=True)
class Analysis:
    """Describe one page of the evaluation. `settings` names the fields of Settings that it takes."""

    key: str  # in the address
    title: str  # everywhere: in the sidebar, above the page, in its window's title, in the search
    lead: str
    docs: str  # heading of its page in docs/
    settings: tuple[str, ...]
    parts: tuple[Part, ...] = field(default=())
    also: tuple[str, ...] = ()  # label sets that it reads whatever the settings say
    version: Callable[[Pool], str] | None = None  # of what else it rests on beside labels and ranks
    docs_page: str = "evaluation"  # in docs/, without .md
    jobs: Callable[[Pool], Sequence[Job]] | None = None  # that make what the page lacks: live, or failed at last
    by_family: bool = False  # it compares systems, so a family of seeds is one system whatever the settings say
    trained_only: bool = False  # it needs scores of all entities, which imported runs lack
    group: str = "Lenses"  # its heading in the sidebar
    full_test: bool = False  # it always shows full test beside its label sets
    opened: tuple[str, ...] = ()  # of a long page: the sections that are open at first; the others are folded

    def __post_init__(self) -> None:
        """Add the setting that every page takes: which systems it compares."""
        if SYSTEMS not in self.settings:
            object.__setattr__(self, "settings", (*self.settings, SYSTEMS))

    def part(self, key: str) -> Part:
        return next(part for part in self.parts if part.key == key)

    def context(self, pool: Pool, settings: Settings, progress: Tell | None = None) -> Context:
        """Return what the parts of this page are computed from."""
        chosen = replace(settings, seeds="families") if self.by_family else settings
        full_test = self.full_test or "full-test" in self.also
        return Context(pool, chosen, progress, full_test, self.trained_only)


def beside(sections: Sequence[Section], labels: str) -> list[Section]:
    """Rename sections and tables of another label set, so that a page can have both; say which they are."""
    name = labels.replace("-", " ")
    return [
        replace(
            section,
            key=f"{section.key}-{labels}",
            title=f"{section.title}: {name}",
            text=f"For comparison only: {name}, whatever labels are chosen above. {section.text}",
            tables=[
                replace(table, key=f"{table.key}-{labels}", title=f"{table.title}: {name}") for table in section.tables
            ],
        )
        for section in sections
    ]


# -- how values are written into sections -----------------------------------------------------------------------


def number(value: float) -> float | None:
    """Return a number for JSON: None where it is undefined."""
    return float(value) if math.isfinite(value) else None


def numbers(array: Iterable[float]) -> list[float | None]:
    return [number(value) for value in np.asarray(array, dtype=np.float64).tolist()]


def cell(value: float, reason: str = "", **more: Any) -> Cell:
    """Return a number, with what belongs to it (low, high), or a reason where it is undefined."""
    if not math.isfinite(value):
        return {"value": None, "reason": reason or "undefined", **more}
    return {"value": float(value), **more} if more else float(value)


def seed_cells(cells: Sequence[Cell], spread: SeedSpread | None) -> list[Cell]:
    """Return a column of cells, one for each system, with mean and standard deviation over its seeds where it has any.

    `spread` is that of the column: mean and sd [systems].
    """
    if spread is None:
        return list(cells)
    found: list[Cell] = []
    for own, mean, sd, seeds in zip(cells, *map(np.ndarray.tolist, spread), strict=True):
        inner = own if isinstance(own, dict) else {"value": own}
        found.append(inner | {"mean": mean, "sd": sd, "n": seeds} if math.isfinite(mean) else own)
    return found


def seed_columns(table: Table, columns: Iterable[int], spread: SeedSpread | None) -> Table:
    """Return a table with mean and standard deviation over seeds in some of its columns.

    `spread` is that of these columns: mean and sd [rows, columns].
    """
    rows = [list(row) for row in table.rows]
    for i, column in enumerate(columns if spread else ()):
        cells = seed_cells([row[column] for row in rows], spread and spread.at(i))
        for row, own in zip(rows, cells, strict=True):
            row[column] = own
    return replace(table, rows=rows)


def label_caption(chosen: LabelSet, settings: Settings) -> str:
    """Describe a label set in a caption: its name, its counts, what counts as judged, which questions."""
    counts = chosen.counts()
    assumed = "counted as judged" if settings.assumed_is_judged else "not counted as judged"
    questions = "" if chosen.asked is None else "; questions of the seeds only"
    return (
        f"Labels: {chosen.name} ({counts['positive']:,} positive, {counts['negative']:,} negative,"
        f" {counts['assumed_negative']:,} assumed negative {assumed}, {counts['unjudged']:,} unjudged){questions}."
    )


def evaluated(chosen: LabelSet) -> str:
    """Return n of a label set for a caption: "98 answers to 76 questions", of the evaluated questions."""
    table = chosen.prepared.table
    answers = positive(chosen.state)[table.triple]  # a positive triple has a row, an answer, on each side
    if chosen.asked is not None:
        answers &= chosen.asked[table.question]
    questions = np.unique(table.question[answers]).size
    return f"{int(np.count_nonzero(answers)):,} answers to {questions:,} questions"
