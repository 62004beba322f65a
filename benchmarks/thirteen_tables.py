"""Compare the systems of docs/measured/ under three label sets, beside what Zhou et al. (2022) published of thirteen.

    python benchmarks/thirteen_tables.py        writes docs/measured/README.md and docs/measured/p_values.tsv

Ranks are those that thirteen.py kept, so that nothing is trained. O is the full test set, S the 1,023 seeds, S-C the
published labels of the pool. Published figures come from the published results of the example data; without them the
columns are left out.
"""

import csv
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.thirteen import MEASURED, SYSTEMS, wanted_keys

if TYPE_CHECKING:
    from benchmarks.fb15k237_study import Study
    from evaluation.measures.values import Values
    from evaluation.statistics.bootstrap import Interval
    from evaluation.statistics.t_tests import PairTests

SETS = {"O": "full-test", "S": "seeds", "S-C": "current"}
PUBLISHED_SETS = {"O": "FB-Test-O", "S": "FB-Test-S", "S-C": "FB-Test-S-C"}
MICRO = ("micro_mr", "micro_mrr", "micro_hits@1", "micro_hits@3", "micro_hits@10")
MACRO = ("macro_mrr", "macro_hits@10", "map@20", "ndcg@20")
MEASURES = (*MICRO, *MACRO)
PUBLISHED_NAMES = {"map@20": "map_cut_20", "ndcg@20": "ndcg_cut_20"}
PAIRS = (("S", "S-C"), ("S", "O"), ("O", "S-C"))
SEED, RESAMPLES, REPEATS = 7, 1000, 50
# what keeps a system below the published figure, as far as its training tells
BELOW = {
    "atte": "It stopped after five epochs without a better one, at two fifths of its first learning rate. Now"
    " thirteen.py sets no patience, and the rate falls to a fiftieth",
    "tucker": "Its score still rose in the last epochs: it needs more epochs with dropout .3, .4 and .5. Now"
    " thirteen.py uses less dropout",
    "hake": "Its score still rose in the last of seven epochs. Each takes nearly three minutes, because the distance"
    " to every wrong answer is computed separately",
    "rotate": "The loss made the difference: fourteen epochs with the self-adversarial loss gave 0.1535, twenty epochs"
    " with cross-entropy against 1,000 wrong answers gave this result",
    "conve": "Its score still rose in the last of six epochs with all wrong answers. Now thirteen.py draws 1,000",
    "interacte": "Its score still rose in the last of six epochs. Its network is smaller than the preset",
    "compgcn": "Too few steps. Three epochs gave a validation MRR of .156 in batches of 4,096 questions (121 s), .148"
    " with 200 numbers for each entity, and .203 in batches of 1,024 (285 s). Now thirteen.py uses batches of 1,024."
    " The score still rose in the last of five epochs",
    "hitter": "Too few neighbours. Three epochs gave a validation MRR of .117 with 8 neighbours, .144 with 16, and .086"
    " with 8 and 128 numbers for each entity. Now thirteen.py uses 16",
    "bique": "It had 128 numbers for each entity; the paper has 1,024. Now thirteen.py uses 512",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRIPLEPOOL_VAR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        compared = Compared()
        compared.write_p_values()
        text = "\n\n".join(compared.sections())
    aside = MEASURED / ".README.md.part"
    aside.write_text(text + "\n", encoding="utf-8")
    aside.replace(MEASURED / "README.md")
    print(text)


class Compared:
    """Hold the measured systems in a pool of their own, with the published labels."""

    def __init__(self) -> None:
        from evaluation.labels.label_sets import label_set
        from evaluation.labels.pool_table import pool_table

        self.figures = kept_figures(name for name in SYSTEMS if (MEASURED / f"{name}.json").exists())
        if len(self.figures) < 2:
            sys.exit(f"{MEASURED} has fewer than two systems: run thirteen.py first.")
        study = measured_study(self.figures)
        self.pool, self.table = study.found, pool_table(study.found)
        self.names = list(self.table.systems)
        self.chosen = {of: label_set(self.pool, self.table, key) for of, key in SETS.items()}
        self.published = published(study.data / "published" / "003_systems.tsv")

    @cached_property
    def values(self) -> "dict[str, dict[str, Values]]":
        return {of: chosen.values(MEASURES) for of, chosen in self.chosen.items()}

    @cached_property
    def taus(self) -> "dict[tuple[str, str], dict[str, Interval]]":
        """Return tau-b with its interval by pair of sets and measure."""
        from evaluation.statistics.bootstrap import bootstrap_correlations

        sums = {of: chosen.sums(MEASURES) for of, chosen in self.chosen.items()}
        found = {}
        for one, other in PAIRS:
            rng = np.random.default_rng(SEED)
            of = bootstrap_correlations(sums[one], sums[other], rng, RESAMPLES, correlations=["tau_b"])
            found[one, other] = {name: by["tau_b"] for name, by in of.items()}
        return found

    @cached_property
    def tests(self) -> "dict[str, dict[str, PairTests]]":
        """Return the paired t-tests of the paper, not clustered, by set and measure."""
        from evaluation.statistics.t_tests import paired_t_tests

        return {of: {name: paired_t_tests(value) for name, value in by.items()} for of, by in self.values.items()}

    def sections(self) -> Iterator[str]:
        from benchmarks.thirteen_conclusions import conclusions

        yield (
            "# Thirteen systems on FB15k-237\n\n`benchmarks/thirteen_tables.py` writes this page from the files beside"
            " it, and `benchmarks/thirteen.py` writes those files. NAME.json has the settings, seconds, seed and"
            " measures of a system. NAME.npz has its ranks of all test and pooled triples on both sides.\n\n"
            "The page compares three label sets. O is the full test set (20,466 triples), S is the 1,023 published"
            " seeds, and S-C is the published labels of their pool."
        )
        yield self.systems()
        for of in SETS:
            yield self.measures(of)
        yield self.correlations()
        yield self.discrimination()
        yield "## The paper's conclusions\n\n" + "\n".join(f"- {line}" for line in conclusions(self))

    def systems(self) -> str:
        from benchmarks.fb15k237_study import table

        rows = []
        for name, one in self.figures.items():
            apart = 100 * (one["test_mrr"] / one["published_mrr"] - 1)
            changed = ", ".join(f"{key} {value}" for key, value in one["changed"].items()) or "none"
            rows.append([name, f"{one['published_mrr']:.3f}", one["test_mrr"], f"{apart:+.1f} %", one["validation_mrr"],
                         f"{one['best_epoch']} of {one['epochs']}", round(one["seconds"] / 60), one["seed"],
                         changed + (f". {BELOW[name]}" if name in BELOW else "")])  # fmt: skip
        missing = [name for name in SYSTEMS if name not in self.figures]
        rest = f"\n\nNot measured yet: {', '.join(missing)}." if missing else ""
        header = ["system", "published MRR", "test MRR", "difference", "validation MRR", "best epoch", "minutes",
                  "seed", "changes to the preset"]  # fmt: skip
        return (
            "## Systems\n\nEach system used one thread of a shared CPU. Test MRR is filtered, over both sides of all"
            " 20,466 test triples. Minutes are wall time; other work ran on the same machine.\n\n"
            + table(header, rows)
            + rest
        )

    def measures(self, of: str) -> str:
        from benchmarks.fb15k237_study import table

        means = {name: value.mean() for name, value in self.values[of].items()}
        rows = [[system, *(float(means[name][i]) for name in MEASURES)] for i, system in enumerate(self.names)]
        return f"## Measures on {of}\n\n{table(['system', *MEASURES], rows)}"

    def published_tau(self, pair: tuple[str, str], measure: str, systems: Sequence[str] | None = None) -> float | None:
        """Return tau-b of the published figures, of all thirteen systems or of some; None without the file."""
        from evaluation.measures.registry import parse_measure
        from evaluation.statistics.correlation import tau_of_means

        if not self.published:
            return None
        column = PUBLISHED_NAMES.get(measure, measure)
        names = list(systems or SYSTEMS)
        one, other = (np.array([self.published[of, name][column] for name in names]) for of in pair)
        return tau_of_means(one, other, parse_measure(measure).higher_is_better)

    def correlations(self) -> str:
        from benchmarks.fb15k237_study import table

        rows: list[list[object]] = []
        for name in MEASURES:
            row: list[object] = [name]
            for pair in PAIRS:
                tau, theirs = self.taus[pair][name], self.published_tau(pair, name)
                row += [f"{tau.value:.3f} [{tau.low:.2f}, {tau.high:.2f}]", "" if theirs is None else f"{theirs:.3f}"]
            rows.append(row)
        header = ["measure", *(text for a, b in PAIRS for text in (f"{a} – {b}", "published"))]
        found = table(header, rows)
        return (
            f"## Tau between label sets\n\nThe table shows Kendall's tau-b of {len(self.names)} systems with its 95 %"
            f" interval from {RESAMPLES:,} resamples of the questions. Beside it is tau of the 13 published rows.\n\n"
            + found
        )

    def discrimination(self) -> str:
        from benchmarks.fb15k237_study import table

        pairs = len(self.names) * (len(self.names) - 1) // 2
        rows = [
            [of, name, tests.n, f"{100 * tests.share_below():.0f} %", f"{100 * tests.share_below(0.05, 'holm'):.0f} %",
             f"{tests.area():.3f}"]
            for of, by in self.tests.items() for name, tests in by.items()
        ]  # fmt: skip
        return (
            f"## Significant pairs\n\nThe table shows paired two-tailed t-tests of the {pairs} pairs. As in the paper,"
            " the answers of micro measures count as independent. p_values.tsv has all p-values.\n\n"
            + table(["labels", "measure", "n", "p < .05", "after Holm", "area (mean p)"], rows)
        )

    def write_p_values(self) -> None:
        """Write the p-value of each pair, with a column for each measure."""
        aside = MEASURED / ".p_values.tsv.part"
        with aside.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, delimiter="\t", lineterminator="\n")
            lines.writerow(["labels", "system_a", "system_b", *MEASURES])
            for of, by in self.tests.items():
                some = by[MEASURES[0]]
                for i, (a, b) in enumerate(zip(some.first, some.second, strict=True)):
                    lines.writerow([of, self.names[a], self.names[b], *(f"{by[name].p[i]:.3g}" for name in MEASURES)])
        aside.replace(MEASURED / "p_values.tsv")


def kept_figures(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return what thirteen.py kept of these systems, by name."""
    return {name: json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8")) for name in names}


def measured_study(figures: Mapping[str, dict[str, Any]]) -> "Study":
    """Return the published pool with its labels and the runs of measured systems."""
    from benchmarks.fb15k237_study import Study

    study = Study(0)
    study.graph()
    study.pool()
    study.labels()
    for name, own in figures.items():
        store_run(study, name, own)
    return study


def store_run(study: Any, name: str, figures: dict[str, Any]) -> None:
    """Make the row of a measured system, and its run from the kept ranks."""
    from pooling.enums import SystemState
    from pooling.graphs.opening import open_graph
    from pooling.models import System
    from pooling.runs.files import candidates_table, ranks_table
    from pooling.runs.score import TOP_K, point_at, run_folder, write_run
    from pooling.scoring.rank_rows import group_rows, question_keys

    graph, keys = open_graph(study.row), wanted_keys(study)
    questions, csr = group_rows(keys, *graph.shape)
    with np.load(MEASURED / f"{name}.npz") as kept:
        strict = kept["strict"]
        ranks = (strict, strict - kept["above"], strict + kept["below"])
    if len(strict) != len(keys):
        sys.exit(f"{MEASURED / name}.npz has {len(strict):,} ranks, the graph and pool have {len(keys):,}: train anew.")
    system = System.objects.create(
        graph=study.row,
        name=name,
        kind=name,
        settings=figures["settings"],
        state=SystemState.TRAINED,
        artifact=f"systems/{name}",
    )
    none = np.zeros(0, np.int64)
    counts = np.diff(csr.indptr)
    tables = {
        "topk.parquet": candidates_table(none, none, none, none.astype(np.float32), none, graph),
        "ranks.parquet": ranks_table(question_keys(questions, *graph.shape), counts, csr.indices, ranks, graph),
    }
    with run_folder(system) as relative:
        point_at(system, None, write_run(relative, system, None, tables, TOP_K, figures["ranking_seconds"]))


def published(file: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Return the published measures by (O, S or S-C, system); {} without the file."""
    if not file.exists():
        return {}
    key_of = {name: of for of, name in PUBLISHED_SETS.items()}
    with file.open(encoding="utf-8") as lines:
        return {
            (key_of[row["test_set"]], row["system"]): {
                key: float(value) for key, value in row.items() if key not in ("test_set", "system")
            }
            for row in csv.DictReader(lines, delimiter="\t")
            if row["test_set"] in key_of
        }


if __name__ == "__main__":
    main()
