"""Count how often the intervals of estimates hold the value of the whole pool, on the published labels of FB15k-237.

    python benchmarks/estimate_coverage.py [--draws 200] [--processes 2] [--folder var/coverage]
    python benchmarks/estimate_coverage.py --quick         20 draws at 20 % of the labels; writes nothing
    python benchmarks/estimate_coverage.py --totals 2000   only the totals of positives, two minutes

Labels are drawn as the orders random and stratified draw them, 10, 20 and 50 % of the pool, each time anew, and every
estimate is made from them alone. The six runs are those of docs/measured/. Draws are kept in the folder, so that more
of them can be asked for later. Writes docs/measured/benchmarks.md and the table of docs/evaluation.md.
"""

import argparse
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

if TYPE_CHECKING:
    from evaluation.estimates.kernels.weights import Sample
    from evaluation.measures.prepared import Prepared

ROOT = Path(__file__).resolve().parent.parent
DESIGNS, SHARES, BLOCK = ("random", "stratified"), (0.1, 0.2, 0.5), 10
SEED = 1019  # of the first draw; the widths of intervals were set on the draws of 19 to 78


class Cell(NamedTuple):
    design: str
    share: float

    @property
    def title(self) -> str:
        return f"{self.design} {100 * self.share:.0f} %"


@dataclass(frozen=True)
class Case:
    """The judged pool. might, positive, judged bool [triples]: for people, positive, and certain with a label."""

    prepared: "Prepared"
    systems: list[str]
    might: np.ndarray
    positive: np.ndarray
    judged: np.ndarray
    depth: np.ndarray

    def sample(self, cell: Cell, seed: int) -> "Sample":
        """Return what the order draws of this share of the pool."""
        from evaluation.estimates.kernels.weights import CERTAIN, Sample
        from pooling.orders.base import OrderPool
        from pooling.orders.stratified import strata_of, stratum_of, turns

        at = np.flatnonzero(self.might)
        none, depth = np.zeros((0, at.size), dtype=np.int32), np.maximum(self.depth[at], 1)
        pool, strata = OrderPool(none, depth, np.zeros(at.size, dtype=np.int64)), strata_of({})
        stratum = np.full(self.might.shape, CERTAIN)
        stratum[at] = stratum_of(depth, strata.bounds) if cell.design == "stratified" else 0
        due = turns(pool, strata, seed) if cell.design == "stratified" else pool.place(seed)
        drawn = np.zeros(self.might.shape, dtype=bool)
        drawn[at[np.argsort(due, kind="stable")[: round(cell.share * at.size)]]] = True
        return Sample(stratum, drawn, self.positive & (drawn | ~self.might))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200, help="of each order and share")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=ROOT / "var" / "coverage", help="where draws are kept")
    parser.add_argument("--quick", action="store_true", help="20 draws at 20 %%, nothing is written")
    parser.add_argument(
        "--totals", type=int, metavar="DRAWS", help="count only the intervals of totals, over this many draws"
    )
    arguments = parser.parse_args()
    cells = [Cell(design, share) for design, share in product(DESIGNS, (0.2,) if arguments.quick else SHARES)]
    draws = 20 if arguments.quick else arguments.draws
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRIPLEPOOL_VAR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        import django

        django.setup()
        case = published()
    from benchmarks.estimate_coverage_tables import write_tables, write_totals

    if arguments.totals:
        write_totals({cell: totals(case, cell, arguments.totals) for cell in cells}, arguments.totals)
        return
    kept = None if arguments.quick else arguments.folder
    found = dict(measured(case, cells, draws, arguments.processes, kept))
    write_tables(case, found, to_docs=not arguments.quick)


def published() -> Case:
    """Return the published pool with its labels and six measured runs."""
    from django.core.management import call_command

    from benchmarks.fb15k237_study import SYSTEMS
    from benchmarks.thirteen_tables import kept_figures, measured_study
    from evaluation.labels.label_sets import current_state
    from evaluation.labels.pool_table import pool_table
    from evaluation.measures.label_state import LabelState, nonrelevant
    from pooling.enums import TO_PEOPLE

    call_command("migrate", verbosity=0)
    study = measured_study(kept_figures(SYSTEMS))
    table = pool_table(study.found)
    state = current_state(study.found, table)
    might = np.zeros(len(state), dtype=bool)
    might[[table.position_of[i] for i in study.found.triples.filter(reason=TO_PEOPLE).values_list("pk", flat=True)]] = 1
    positive = state == LabelState.POSITIVE
    judged = ~might & (positive | nonrelevant(state))
    return Case(table.pool, list(table.systems), might, positive, judged, table.depth)


Rows = list[dict[str, np.ndarray]]  # a draw: quantity -> [value low high, systems]


def measured(
    case: Case, cells: list[Cell], draws: int, processes: int, folder: Path | None
) -> Iterator[tuple[Cell, Rows]]:
    """Yield the draws of each cell; those in the folder are not drawn again."""
    global _case
    _case = case
    blocks = [(cell, first, folder) for first in range(0, draws, BLOCK) for cell in cells]
    began, found = time.monotonic(), {cell: Rows() for cell in cells}
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        for done, ((cell, _, _), rows) in enumerate(zip(blocks, pool.map(_block, blocks), strict=True), 1):
            found[cell] += rows
            print(f"{done} of {len(blocks)} blocks, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    yield from ((cell, rows[:draws]) for cell, rows in found.items())


_case: Case


def _block(what: tuple[Cell, int, Path | None]) -> Rows:
    cell, first, folder = what
    file = folder / f"{cell.design}-{100 * cell.share:.0f}-{first}.pickle" if folder else None
    if file and file.exists():
        rows: Rows = pickle.loads(file.read_bytes())
        return rows
    rows = [estimated(_case, cell, SEED + i) for i in range(first, first + BLOCK)]
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        aside = file.with_suffix(".part")
        aside.write_bytes(pickle.dumps(rows))
        aside.replace(file)
    return rows


def estimated(case: Case, cell: Cell, seed: int) -> dict[str, np.ndarray]:
    """Return every estimate of one draw."""
    return _estimates(case, case.sample(cell, seed), seed)


def truth(case: Case) -> dict[str, np.ndarray]:
    """Return the values of the whole pool."""
    from evaluation.estimates.kernels.weights import CERTAIN, Sample

    everything = Sample(np.where(case.might, 0, CERTAIN), case.might, case.positive)
    return {name: one[0] for name, one in _estimates(case, everything, 0).items()}


def _estimates(case: Case, sample: "Sample", seed: int) -> dict[str, np.ndarray]:
    from evaluation.estimates.estimate import estimates_of
    from evaluation.estimates.kernels.weights import total_interval

    asked, rng = np.ones(case.prepared.table.questions, dtype=bool), np.random.default_rng(seed)
    kinds: Any = estimates_of(case.prepared, sample, case.judged, asked, case.depth, rng, lambda done, total: None)
    found: dict[str, np.ndarray] = {}
    for kind, estimates in zip(("unbiased", "model"), kinds, strict=True):
        found |= {f"{kind} {name}": np.stack(one) for name, one in estimates.items()}
    hits = np.bincount(sample.stratum[sample.drawn & sample.positive], minlength=sample.population.size)
    counts = list(zip(sample.population.tolist(), sample.taken.tolist(), hits.tolist(), strict=True))
    found["wilson positives"] = np.array([[big * k / n, *total_interval(big, n, k)] for big, n, k in counts]).T
    return found


def totals(case: Case, cell: Cell, draws: int) -> float:
    """Return the share of draws whose interval of the number of positives holds that of the whole pool."""
    from evaluation.estimates.kernels.intervals import of_total

    held, all_of_them, ones = 0, int((case.positive & case.might).sum()), np.ones(case.might.size)
    for seed in range(SEED, SEED + draws):
        sample = case.sample(cell, seed)
        hits = np.bincount(sample.stratum[sample.drawn & sample.positive], minlength=sample.population.size)
        one = of_total((sample.population / sample.taken * hits).sum(), sample, ones)
        held += int(one.low <= all_of_them <= one.high)
    return held / draws


if __name__ == "__main__":
    main()
