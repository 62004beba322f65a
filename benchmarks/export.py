"""Export a frozen test set and read it back; pandas writes and reads the same rows in this run.

    python benchmarks/export.py --quick     1,000 seeds; the last line is the main ratio
    python benchmarks/export.py             also 20,466 seeds, the published pool with six runs, and a million
                                            judgements; writes its tables into docs/measured
    python benchmarks/export.py --targets   only the last two; nothing written

The pool is drawn (benchmarks/scratch.py) and a third of it judged; there are no runs, so no run files. Our time is
from the frozen qrels to the closed folder: questions in words, identifiers, checksums and all. The peer starts from
the finished rows, as text in frames, and only writes them (DataFrame.to_csv), to the same bytes. Reading back is an
import as a new graph, with all its checks, against read_csv.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.export_scenes import draw_runs, drawn_pool, exported, real_pool
from benchmarks.report import Summary, write_section
from benchmarks.scratch import draw_candidates, make_graph, scratch_site

if TYPE_CHECKING:
    from evaluation.models import Qrels
    from pooling.models import Graph

SIZES = (1_000, 20_466)
SEEDS = 1_023  # of the drawn pools with many judgements
TABLES = {
    "train.tsv": "\t", "valid.tsv": "\t", "test.tsv": "\t", "seeds.tsv": "\t", "known_test.tsv": "\t",
    "judgements.tsv": "\t",
    "trec/topics.tsv": "\t", "trec/qrels.txt": " ",
}  # fmt: skip


LARGE = (
    "Targets: 22,492 judgements with six runs in 5 s, 1,000,000 in 120 s and 500 MiB. The first row is the published"
    " pool of FB15k-237 with its labels and six drawn runs of 100 candidates per question. The other rows are drawn:"
    " each triple has one imported label with its link, or two labels of people. Each row ran once, in its own process;"
    " *peak* is the largest memory of that process."
)


class Row(NamedTuple):
    """Hold the seconds of one size."""

    seeds: int
    rows: int
    bytes: int
    export: float
    to_csv: float
    back: float
    read_csv: float


def make_qrels(graph: Graph, seeds: int) -> Qrels:
    """Return frozen qrels of a pool of drawn candidates, a third of them judged."""
    from django.utils import timezone

    from annotation.models import Judgement
    from evaluation.labels.qrels import freeze_qrels
    from pooling.graphs.opening import open_graph
    from pooling.models import Pool, SeedTriple
    from pooling.pools.build import store_pooled
    from pooling.pools.kernels.gathering import gather
    from pooling.questions.kernel import questions_of

    arrays = open_graph(graph)
    rng = np.random.default_rng(seeds)
    chosen = arrays.test[:seeds]
    questions, _, _ = questions_of(chosen)
    pool = Pool.objects.create(
        graph=graph,
        name=f"p{seeds}",
        origin="built",
        depth=10,
        seed_source="drawn",
        contributors=["a", "b"],
        filters=["category-head", "category-tail"],
    )
    SeedTriple.objects.bulk_create(SeedTriple(pool=pool, head=h, relation=r, tail=t) for h, r, t in chosen.tolist())
    store_pooled(pool, gather(questions, draw_candidates(len(questions.side), 2, rng), 10), chosen, arrays)
    asked = list(pool.triples.filter(reason="").order_by("id").values_list("pk", flat=True)[::3])
    Judgement.objects.bulk_create(
        Judgement(
            triple_id=pk,
            pool=pool,
            verdict="positive" if i % 5 == 0 else "negative",
            origin="people",
            decided_at=timezone.now(),
        )
        for i, pk in enumerate(asked)
    )
    return freeze_qrels(pool, "benchmark")


def read_frame(path: Path, separator: str) -> pd.DataFrame:
    """Read a file as text, without missing values."""
    return pd.read_csv(path, sep=separator, header=None, dtype=str, keep_default_na=False, quoting=csv.QUOTE_NONE)


def filled(folder: Path) -> dict[str, str]:
    """Return the tables that are not empty, with their separators: where all test triples are seeds, one is empty."""
    return {name: separator for name, separator in TABLES.items() if (folder / name).stat().st_size}


def measure(graph: Graph, seeds: int, folder: Path, repeats: int) -> Row:
    """Export, write with pandas, compare the bytes, read both back; medians."""
    from evaluation.test_sets.export import export_test_set
    from pooling.graphs.imports import import_graph
    from pooling.graphs.tsv import read_tsv

    qrels = make_qrels(graph, seeds)
    export, to_csv, back, read_csv = [], [], [], []
    for i in range(repeats):
        out, copy = folder / f"test-set-{seeds}-{i}", folder / f"copy-{seeds}-{i}"
        (copy / "trec").mkdir(parents=True)
        begin = time.perf_counter()
        export_test_set(qrels, out)
        export.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        frames = {name: read_frame(out / name, separator) for name, separator in filled(out).items()}
        read_csv.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        for name, separator in filled(out).items():
            frames[name].to_csv(
                copy / name, sep=separator, header=False, index=False, quoting=csv.QUOTE_NONE, lineterminator="\n"
            )
        to_csv.append(time.perf_counter() - begin)
        for name in frames:
            assert (copy / name).read_bytes() == (out / name).read_bytes(), f"{name} differs"
        begin = time.perf_counter()
        again = import_graph(f"back-{seeds}-{i}", read_tsv(out), options={})
        back.append(time.perf_counter() - begin)
        assert again.num_test == len(frames["test.tsv"]), "the imported test split has another size"
    return Row(
        seeds,
        sum(map(len, frames.values())),
        sum((out / name).stat().st_size for name in TABLES),
        *(statistics.median(times) for times in (export, to_csv, back, read_csv)),
    )


def targets(graph: Graph, folder: Path) -> list[str]:
    """Return a table of two exports, each in a child: the published pool with six drawn runs, a million judgements."""
    from django.conf import settings

    from evaluation.labels.qrels import freeze_qrels

    table = [
        "| judgements | labels | runs | folder, s | zip, s | CPU, s | peak, MiB | of it modules, MiB | MB | files |",
        "|---" * 10 + "|",
    ]
    large = partial(drawn_pool, graph, 1_000_000 - SEEDS, SEEDS)
    for make, labels, runs in (
        (lambda: real_pool(Path(settings.DATA_ROOT)), "imported", 6),
        (lambda: drawn_pool(graph, 100_000 - SEEDS, SEEDS), "imported", 6),
        (large, "imported", 0),
        (lambda: large(people=True), "two of people", 0),
    ):
        pool = make()
        draw_runs(pool, [f"system-{i}" for i in range(runs)])
        judgements = pool.triples.count() + pool.seeds.count()
        found = exported(freeze_qrels(pool, "targets"), folder / pool.name)
        table.append(
            f"| {judgements:,} | {labels} | {runs} | {found.folder:.1f} | {found.archive:.1f} | {found.cpu:.1f} |"
            f" {found.peak:.0f} | {found.idle:.0f} | {found.bytes / 1e6:.0f} | {found.files} |"
        )
        print(table[-1], flush=True)
    return table


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 seeds, within a minute; nothing written")
    parser.add_argument("--targets", action="store_true", help="the two large exports only; nothing written")
    quick, only = (arguments := parser.parse_args()).quick, arguments.targets
    sizes = () if only else SIZES[:1] if quick else SIZES
    table = [
        "| seeds | rows | MB | export, s | rows/s | to_csv alone, s | ratio | import again, s | read_csv alone, s |",
        "|---" * 9 + "|",
    ]
    main_figure = None
    with scratch_site() as folder:
        graph = make_graph(max(SIZES), np.random.default_rng(1))
        for size in sizes:
            row = measure(graph, size, folder, 3)
            main_figure = Summary(f"export of {row.rows:,} rows", row.export, "pandas' to_csv of them", row.to_csv)
            table.append(
                f"| {size:,} | {row.rows:,} | {row.bytes / 1e6:.1f} | {row.export:.2f} | {row.rows / row.export:,.0f}"
                f" | {row.to_csv:.2f} | {main_figure.ratio:.2f} | {row.back:.2f} | {row.read_csv:.2f} |"
            )
            print(table[-1], flush=True)
        large = [] if quick else targets(graph, folder)
    if not quick and not only:
        intro = (
            "A drawn pool of two systems at depth 10, one third judged, no runs. *Export* goes from the frozen qrels to"
            " the finished folder, with questions in words and checksums. *to_csv* is pandas writing finished rows with"
            " the same bytes; it does not compute them. *Import again* includes all checks of a new graph. Medians of"
            " 3."
        )
        write_section("export", "\n".join(["## Export", "", intro, "", *table, "", LARGE, "", *large]))
    if not only:
        print(main_figure)


if __name__ == "__main__":
    main()
