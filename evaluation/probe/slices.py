"""Slices of PROBE, as in the paper's table: by sharpness and by robustness, under both label sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.measures.rank_table import Floats
from evaluation.probe.answers import (
    MRR,
    PAPER_ROBUSTNESSES,
    PAPER_SHARPNESSES,
    ROBUSTNESSES,
    SHARPNESSES,
    ProbeAnswers,
    missing_notes,
    probe_caption,
)
from evaluation.sections.section import Cell, Chart, Column, Context, Section, Table, numbers
from evaluation.sections.wording import places

LETTER = {"sharpness": "a", "robustness": "b"}


@dataclass(frozen=True)
class Slice:
    """`along` one of the two parameters, the other one at `fixed`; `points` are those of the paper's table."""

    along: str
    line: Sequence[float]
    points: Sequence[float]
    fixed: float

    @property
    def other(self) -> str:
        return next(name for name in LETTER if name != self.along)

    def of(self, side: ProbeAnswers, at: Sequence[float]) -> Floats:
        """[systems, points]."""
        if self.along == "sharpness":
            return side.surface(at, [self.fixed])[:, :, 0]
        return side.surface([self.fixed], at)[:, 0, :]

    def is_mrr(self, point: float) -> bool:
        place = (point, self.fixed) if self.along == "sharpness" else (self.fixed, point)
        return place == MRR


def slices(context: Context, *sides: ProbeAnswers) -> list[Section]:
    """Two for each label set: by sharpness at the chosen robustness, by robustness at the chosen sharpness."""
    settings = context.settings
    cuts = (
        Slice("sharpness", SHARPNESSES, PAPER_SHARPNESSES, settings.robustness),
        Slice("robustness", ROBUSTNESSES, PAPER_ROBUSTNESSES, settings.sharpness),
    )
    return [_section(context, side, cut) for side in sides for cut in cuts]


def _section(context: Context, side: ProbeAnswers, cut: Slice) -> Section:
    title = f"By {cut.along}, {side.name}"
    first, last = cut.of(side, [cut.points[0], cut.points[-1]]).T
    return Section(
        f"{cut.along}-{side.side.key}",
        title,
        f"PROBE along {cut.along}, {cut.other} {LETTER[cut.other]} = {cut.fixed:g}. {_meaning(cut)}",
        f"{probe_caption(context, side)} An arrow tells how many places a system gains or loses against the first"
        " column.",
        [_table(context, side, cut, title)],
        Chart(
            "lines",
            f"PROBE of every system by {cut.along}",
            {
                "series": [
                    {"system": i, "name": name, "x": list(cut.line), "y": numbers(values), "plain": True}
                    for i, (name, values) in enumerate(zip(context.systems, cut.of(side, cut.line), strict=True))
                ],
                "x": f"{cut.along} {LETTER[cut.along]}",
                "y": "PROBE",
            },
        ),
        _moves(context.systems, side, cut, first, last),
        missing_notes(context, side),
    )


def _meaning(cut: Slice) -> str:
    if cut.along == "sharpness":
        return "The higher it is, the less an answer counts that is not at rank 1."
    return "The higher it is, the more answers count that train has little about."


def _table(context: Context, side: ProbeAnswers, cut: Slice, title: str) -> Table:
    values = cut.of(side, cut.points)
    placed = [places(column, True) for column in values.T]
    rows: list[list[Cell]] = []
    for i, system in enumerate(context.systems):
        row: list[Cell] = [system]
        for j, place in enumerate(of[i] for of in placed):
            start = placed[0][i]
            moved = start - place if start is not None and place is not None else 0
            row.append(side.cell(values[i, j], **({"moved": moved} if moved else {})))
        rows.append(row)
    best = [(i, j + 1) for j, of in enumerate(placed) for i, place in enumerate(of) if place == 1]
    return Table(
        f"{cut.along}-{side.side.key}",
        f"PROBE. {title}",
        [
            Column("system", "System", "system"),
            *(
                Column(
                    f"{LETTER[cut.along]}_{point:g}",
                    f"{LETTER[cut.along]} = {point:g}{' (MRR)' if cut.is_mrr(point) else ''}",
                    note="MRR but for an affine change" if cut.is_mrr(point) else "",
                )
                for point in cut.points
            ),
        ],
        rows,
        best if len(context.systems) > 1 else (),
    )


def _moves(systems: Sequence[str], side: ProbeAnswers, cut: Slice, first: Floats, last: Floats) -> str:
    """How the order at the two ends of the slice differs."""
    if len(systems) < 2 or not side.n:
        return ""
    one, other = places(first, True), places(last, True)
    ends = f"{LETTER[cut.along]} = {cut.points[0]:g} to {cut.points[-1]:g}"
    moved = np.array([(a or 0) - (b or 0) for a, b in zip(one, other, strict=True)])
    if not moved.any():
        return f"The order of the systems is the same at both ends, {ends}."
    i = int(np.abs(moved).argmax())
    return (
        f"From {ends}, {int((moved != 0).sum())} of {len(systems)} systems change their place; {systems[i]} moves most,"
        f" from {one[i]} to {other[i]}."
    )
