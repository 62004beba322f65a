"""Build the slices of PROBE in the paper's table: by sharpness and by robustness, under both label sets."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.measures.rank_table import Floats
from evaluation.probe import answers as probe
from evaluation.probe.answers import MRR, ProbeAnswers
from evaluation.sections.builders import chart, series_of
from evaluation.sections.relation_groups import caption
from evaluation.sections.section import Cell, Column, Context, Section, Table, seed_cells
from evaluation.sections.wording import places
from pooling.systems.shown_names import shown_name

LETTER = {"sharpness": "a", "robustness": "b"}
MEANING = {
    "sharpness": "The higher it is, the less an answer counts that is not at rank 1.",
    "robustness": "The higher it is, the more answers count that train has little about.",
}


@dataclass(frozen=True)
class Slice:
    """PROBE `along` one parameter, the other one at `fixed`; `points` are those of the paper's table."""

    along: str
    line: Sequence[float]
    points: Sequence[float]
    fixed: float

    def of(self, answers: ProbeAnswers, at: Sequence[float]) -> Floats:
        """Return PROBE along the slice, [systems, points]."""
        if self.along == "sharpness":
            return answers.surface(at, [self.fixed])[:, :, 0]
        return answers.surface([self.fixed], at)[:, 0, :]


def slices(context: Context, *sides: ProbeAnswers) -> list[Section]:
    """Return two sections for each label set: each parameter at the chosen value of the other."""
    settings = context.settings
    cuts = (
        Slice("sharpness", probe.SHARPNESSES, probe.PAPER_SHARPNESSES, settings.robustness),
        Slice("robustness", probe.ROBUSTNESSES, probe.PAPER_ROBUSTNESSES, settings.sharpness),
    )
    return [_section(context, answers, cut) for answers in sides for cut in cuts]


def _section(context: Context, answers: ProbeAnswers, cut: Slice) -> Section:
    title = f"By {cut.along}, {answers.name}"
    first, last = cut.of(answers, [cut.points[0], cut.points[-1]]).T
    across, across_other = (f"{name} {LETTER[name]}" for name in sorted(LETTER, key=lambda name: name != cut.along))
    series = [
        series_of(name, list(cut.line), values, system=i, plain=True)
        for i, (name, values) in enumerate(zip(context.systems, cut.of(answers, cut.line), strict=True))
    ]
    return Section(
        f"{cut.along}-{answers.under.key}",
        title,
        f"PROBE along {cut.along}, {across_other} = {cut.fixed:g}. {MEANING[cut.along]}",
        f"{caption(context, answers.under)} An arrow tells how many places a system gains or loses against the first"
        " column.",
        [_table(context, answers, cut, title)],
        chart("lines", f"PROBE of every system by {cut.along}", series, x=across, y="PROBE"),
        _moves(context.systems, answers, cut, first, last),
        probe.missing_notes(context, answers),
    )


def _table(context: Context, answers: ProbeAnswers, cut: Slice, title: str) -> Table:
    values, spread = cut.of(answers, cut.points), answers.spread(lambda one: cut.of(one, cut.points))
    placed = [places(column, True) for column in values.T]
    cells: list[list[Cell]] = [list(context.systems)]  # [columns][systems]
    for j, of in enumerate(placed):
        moves = [a - b if a is not None and b is not None else 0 for a, b in zip(placed[0], of, strict=True)]
        own = [answers.cell(values[i, j], **({"moved": moved} if moved else {})) for i, moved in enumerate(moves)]
        cells.append(seed_cells(own, spread and spread.at(j)))
    rows = [list(row) for row in zip(*cells, strict=True)]
    best = [(i, j + 1) for j, of in enumerate(placed) for i, place in enumerate(of) if place == 1]
    columns, letter = [Column("system", "System", "system")], LETTER[cut.along]
    for point in cut.points:
        is_mrr = ((point, cut.fixed) if cut.along == "sharpness" else (cut.fixed, point)) == MRR
        label, note = (" (MRR)", "MRR but for an affine change") if is_mrr else ("", "")
        columns.append(Column(f"{letter}_{point:g}", f"{letter} = {point:g}{label}", note=note))
    bold = best if len(context.systems) > 1 else ()
    return Table(f"{cut.along}-{answers.under.key}", f"PROBE. {title}", columns, rows, bold)


def _moves(systems: Sequence[str], answers: ProbeAnswers, cut: Slice, first: Floats, last: Floats) -> str:
    """Say how the order differs between the two ends of the slice."""
    if len(systems) < 2 or not answers.n:
        return ""
    one, other = places(first, True), places(last, True)
    ends = f"{LETTER[cut.along]} = {cut.points[0]:g} to {cut.points[-1]:g}"
    moved = np.array([(a or 0) - (b or 0) for a, b in zip(one, other, strict=True)])
    if not moved.any():
        return f"The order of the systems is the same at both ends, {ends}."
    i = int(np.abs(moved).argmax())
    return (
        f"From {ends}, {int((moved != 0).sum())} of {len(systems)} systems change their place;"
        f" {shown_name(systems[i])} moves most, from {one[i]} to {other[i]}."
    )
