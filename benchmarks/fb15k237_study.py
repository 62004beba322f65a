"""Run the whole study on FB15k-237: the published pool and its labels, six systems trained here.

    python benchmarks/fb15k237_study.py [--minutes 60] [--folder var/study] [--no-docs]

Every stage is kept in the folder: an interrupted study goes on where it was (training from its last checkpoint).
The stages are the commands' own domain functions. Tables go to standard output and to docs/measured.
"""

import argparse
import os
import platform
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.callbacks import Tell
from evaluation.sections.cell_text import cell_text, spread_text
from pooling.enums import PoolingJob

if TYPE_CHECKING:
    from annotation.judging.label_import import ImportReport
    from evaluation.sections.section import Table
    from pooling.models import Pool

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = ("transe", "rotate", "complex", "distmult", "rescal", "conve")
POOL = "fb-test-s"
TAU_MEASURES = ("micro_mr", "micro_mrr", "micro_hits@1", "micro_hits@3", "micro_hits@10", "macro_mrr", "macro_hits@10",
                "map@20", "ndcg@20")  # fmt: skip
# Zhou et al. (2022), thirteen systems, sparse against completed labels: figures 3-5, table 4
PUBLISHED_TAU = {
    "micro_mr": 0.2308, "micro_mrr": -0.2308, "micro_hits@1": -0.0519, "micro_hits@3": -0.4358,
    "micro_hits@10": 0.2598, "macro_mrr": 0.18, "macro_hits@10": 0.40,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="for training all six systems on two cores")
    parser.add_argument("--folder", type=Path, default=ROOT / "var" / "study")
    parser.add_argument("--wn18rr", action="store_true", help="the full test of WN18RR too: as long again")
    parser.add_argument("--no-docs", action="store_true", help="do not write docs/measured")
    arguments = parser.parse_args()
    os.environ["TRIPLEPOOL_VAR"] = str(arguments.folder.resolve())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("WORKER_PROCESSES", "2")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from benchmarks.report import write_section

    study = Study(arguments.minutes)
    sections = [study.graph(), study.pool(), study.labels(), study.train(), *study.evaluate()]
    text = {"fb15k237-study": "## The study on FB15k-237\n\n" + "\n\n".join(sections)}
    if arguments.wn18rr:
        text["wn18rr-study"] = "## The full test of WN18RR\n\n" + "\n\n".join(second_graph(arguments.minutes))
    for name, section in text.items():
        print(section)
        if not arguments.no_docs:
            write_section(name, section)


def say(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    def cell(value: object) -> str:
        if value is None:
            return "undefined"
        if isinstance(value, float):
            return f"{value:.4f}"
        return f"{value:,}" if isinstance(value, int) else str(value)

    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(map(cell, row)) + " |" for row in rows)])


class Study:
    def __init__(self, minutes: float) -> None:
        from django.conf import settings

        self.minutes = minutes
        self.data = settings.DATA_ROOT
        if not (self.data / "fb15k-237").is_dir():
            sys.exit(f"{self.data} has no fb15k-237: set TRIPLEPOOL_DATA to the folder with the example data.")

    def graph(self) -> str:
        from pooling.graphs.imports import import_graph
        from pooling.graphs.tsv import read_tsv
        from pooling.models import Graph

        row = Graph.objects.filter(name="fb15k-237").first()
        if row is None:
            started = time.monotonic()
            row = import_graph("fb15k-237", read_tsv(self.data / "fb15k-237"), options={})
            row.options = {"seconds": round(time.monotonic() - started, 1)}
            row.save(update_fields=["options"])
        self.row = g = row
        took = f"took {g.options['seconds']} s"
        say(f"graph: {g.num_train:,} / {g.num_valid:,} / {g.num_test:,} triples, {g.num_relations} relations; {took}")
        notes = "\n".join(f"- {entry['message']}" for entry in g.report)
        processor = platform.processor() or platform.machine()
        machine = f"{os.cpu_count()} cores, {processor}, Python {platform.python_version()}"
        return (
            f"Machine: {machine}. Graph: {g.num_train:,} train, {g.num_valid:,} valid, {g.num_test:,} test triples, "
            f"{g.num_entities:,} entities, {g.num_relations} relations; the import {took}.\n{notes}"
        )

    def pool(self) -> str:
        from pooling.models import Pool
        from pooling.pools.build import import_pool
        from pooling.pools.report import pool_counts

        folder = self.data / "fb-test-s"
        self.found = Pool.objects.filter(name=POOL).first() or import_pool(
            self.row,
            name=POOL,
            file=folder / "pool.tsv.gz",
            seeds_file=folder / "seed_triples.tsv",
            filters=["category-head", "category-tail"],
        )
        counts = pool_counts(self.found)
        reasons = ", ".join(f"{name} {n:,}" for name, n in counts["by_reason"].items())
        say(f"pool: {counts}")
        return (
            f"Published pool: {counts['seeds']:,} seed triples, {counts['pooled']:,} pooled triples; the category "
            f"filter takes {counts['filtered']:,} ({reasons}) and leaves {counts['to_people']:,} for "
            f"people. Lines left out: {self.found.report or 'none'}."
        )

    def labels(self) -> str:
        from annotation.judging.label_import import import_labels
        from annotation.models import ImportedLabel
        from evaluation.overview.counts import pool_report

        file = self.data / "fb-test-s" / "human_labels.tsv.gz"
        report = import_labels(self.found, file)
        if report.imported == 0 and not ImportedLabel.objects.filter(triple__pool=self.found).exists():
            sys.exit(f"no label of {file} could be imported")
        counts = pool_report(self.found)
        say(
            f"labels: {counts['positive']:,} positive, {counts['negative']:,} negative, "
            f"{counts['assumed_negative']:,} assumed negative, {counts['unjudged']:,} unjudged"
        )
        states = table(
            ["state", "triples"],
            [[key.replace("_", " "), counts[key]] for key in ("positive", "negative", "assumed_negative", "unjudged")]
            + [["all", counts["seeds"] + counts["pooled"]]],
        )
        title = "Completed test set (the paper counts the 61 unjudged as negative)"
        return f"{title}:\n\n{states}\n\n{self._against_filter(report)}"

    def _against_filter(self, report: "ImportReport") -> str:
        """List the triples where the category rule and the published labels differ, and the irregular lines."""
        from pooling.graphs.opening import open_graph
        from pooling.models import PooledTriple
        from pooling.pools.files import read_tsv

        graph = open_graph(self.row)
        file = self.data / "fb-test-s" / "human_labels.tsv.gz"
        published = {tuple(field.strip() for field in fields[:3]) for _, fields in read_tsv(file)}
        people: set[tuple[str, ...]] = set()
        filtered: dict[tuple[str, ...], str] = {}
        for h, r, t, why in PooledTriple.objects.filter(pool=self.found).values_list(
            "head", "relation", "tail", "reason"
        ):
            keys = (graph.entities[h], graph.relations[r], graph.entities[t])
            if why:
                filtered[keys] = why
            else:
                people.add(keys)
        both = sorted(published & filtered.keys())
        rows: list[list[object]] = [[*(f"`{key}`" for key in keys), filtered[keys]] for keys in both]
        irregular: dict[str, list[int]] = {}
        for line, reason in report.skipped + report.notes:
            irregular.setdefault(re.sub(r"triple of line \d+", "triple of an earlier line", reason), []).append(line)
        lines = "\n".join(
            f"- {why}: {len(at)} lines ({', '.join(map(str, at))})" for why, at in sorted(irregular.items())
        )
        return (
            f"The rule leaves {len(people - published)} triples for people that the published labels lack. The "
            f"published labels have {len(both)} triples that the rule filters:\n\n"
            + table(["head", "relation", "tail", "filter"], rows)
            + f"\n\nIrregular lines of human_labels.tsv.gz:\n\n{lines}"
        )

    def train(self) -> str:
        from core.jobs.lifecycle import start_job
        from core.management.shell import run_jobs
        from pooling.enums import SystemState
        from pooling.models import System
        from pooling.training.train import create_systems

        share = str(int(self.minutes * 60 * 2 / len(SYSTEMS)))  # two workers, one thread each
        names = set(System.objects.filter(graph=self.row).values_list("name", flat=True))
        if not set(SYSTEMS) <= names:
            create_systems(self.row, SYSTEMS, {"max_seconds": share})
        waiting = System.objects.filter(graph=self.row).exclude(state=SystemState.TRAINED).order_by("id")
        run_jobs([start_job(PoolingJob.TRAIN, system=s) for s in waiting])
        every = System.objects.filter(graph=self.row).order_by("id")
        run_jobs([start_job(PoolingJob.SCORE, system=system, pool=self.found) for system in every])
        rows: list[list[object]] = [
            [
                s.name,
                s.validation_mrr,
                s.epochs_done,
                s.best_epoch,
                round(s.train_seconds),
                round(s.run.seconds),
                s.run.num_rank_rows,
            ]
            for s in every.select_related("run")
        ]
        header = ["system", "validation MRR", "epochs", "best epoch", "training s", "scoring s", "rank rows"]
        total = sum(float(s.train_seconds) for s in System.objects.filter(graph=self.row))
        return (
            f"Systems, trained with one thread each, two at a time ({total / 60:.0f} core-minutes in all, of "
            f"{2 * self.minutes:.0f} allowed):\n\n{table(header, rows)}"
        )

    def evaluate(self) -> list[str]:
        from evaluation.sections.metrics import metrics

        sections = []
        for labels, title in (
            ("full-test", "full test (20,466 triples)"),
            ("seeds", "seeds (1,023 triples)"),
            ("current", "completed labels"),
        ):
            say(f"evaluating under {title}")
            content = metrics(self.found, labels)
            names = list(content["n"])
            rows = [[system, *(row[name] for name in names)] for system, row in content["systems"].items()]
            rows.append(["n", *(content["n"][name] for name in names)])
            sections.append(f"Measures under the {title}:\n\n{table(['system', *names], rows)}")
        return [*sections, self._shares(), self._taus(), *self._analyses()]

    def _shares(self) -> str:
        from evaluation.overview.rankings import overview

        content = overview(self.found, "micro_mrr")["shares"]
        kinds = ["original", "new", "negative", "assumed_negative", "unjudged", "not_pooled"]
        rows = [
            [name, row["original"] + row["new"], *(row[kind] for kind in kinds)]
            for name, row in content["systems"].items()
        ]
        return (
            f"Top 10 candidates of the evaluated questions (shares of {content['positions']:,} "
            "positions). Other systems than these made this pool. The paper has 11.5-12.5 % positive, about half "
            f"of them new (5.5-6.7 %):\n\n{table(['system', 'positive', *kinds], rows)}"
        )

    def _taus(self) -> str:
        import numpy as np

        from evaluation.labels.label_sets import label_set
        from evaluation.labels.pool_table import pool_table
        from evaluation.statistics.bootstrap import bootstrap_correlations

        whole = pool_table(self.found)
        sums = {key: label_set(self.found, whole, key).sums(TAU_MEASURES) for key in ("seeds", "current", "full-test")}
        pairs = [("seeds", "current"), ("seeds", "full-test"), ("current", "full-test")]
        found = {
            (a, b): bootstrap_correlations(sums[a], sums[b], np.random.default_rng(7), correlations=["tau_b"])
            for a, b in pairs
        }
        rows: list[list[object]] = []
        for name in TAU_MEASURES:
            row: list[object] = [name]
            for pair in pairs:
                tau = found[pair][name]["tau_b"]
                row.append(f"{tau.value:.3f} [{tau.low:.2f}, {tau.high:.2f}]")
            rows.append([*row, str(PUBLISHED_TAU.get(name, "not reported"))])
        header = ["measure", *(f"{a} – {b}" for a, b in pairs), "paper, 13 systems: sparse – completed"]
        return (
            "Kendall's tau-b between label sets, with its 95 % bootstrap interval over questions (1,000 resamples; "
            f"six systems make 15 pairs, so tau moves in steps of 0.13):\n\n{table(header, rows)}"
        )

    def _analyses(self) -> list[str]:
        """Return the tables of the evaluation pages: stability and tests, also of the full test set, and depth."""
        return analyses(
            self.found,
            ("depth", "current"),
            ("stability", "full-test"),
            ("stability", "current"),
            ("discriminative", "full-test"),
            ("discriminative", "seeds"),
            ("discriminative", "current"),
        )


def analyses(pool: "Pool", *wanted: tuple[str, str]) -> list[str]:
    """Return the tables of pages (analysis, label set) of a pool."""
    from evaluation.pages.registry import get_analysis
    from evaluation.sections.section import Context
    from evaluation.sections.settings import Settings

    sections = []
    for key, labels in wanted:
        for part in get_analysis(key).parts:
            if part.labels:  # a part that is of the full test set whatever is chosen
                continue
            say(f"{key}, {part.key}, under {labels}")
            for section in part.compute(Context(pool, Settings(labels=labels), _percent())):
                captions = [f"*{each.title}*\n\n" if len(section.tables) > 1 else "" for each in section.tables]
                tables = [caption + written(each) for caption, each in zip(captions, section.tables, strict=True)]
                sections.append("\n\n".join([f"**{section.title}, {labels}.** {section.caption}", *tables]))
    return sections


def second_graph(minutes: float) -> list[str]:
    """Study WN18RR: the same systems, a pool of 5 % of its test triples without labels, and the full test set."""
    from django.conf import settings

    from core.jobs.lifecycle import start_job
    from core.management.shell import run_jobs
    from evaluation.sections.metrics import metrics
    from pooling.enums import SystemState
    from pooling.graphs.imports import import_graph
    from pooling.graphs.tsv import read_tsv
    from pooling.models import Graph, Pool, System
    from pooling.pools.build import create_pool
    from pooling.training.train import create_systems

    graph = Graph.objects.filter(name="wn18rr").first() or import_graph(
        "wn18rr", read_tsv(settings.DATA_ROOT / "wn18rr"), options={}
    )
    if not System.objects.filter(graph=graph).exists():
        create_systems(graph, SYSTEMS, {"max_seconds": str(int(minutes * 60 * 2 / len(SYSTEMS)))})
    every = System.objects.filter(graph=graph).order_by("id")
    run_jobs([start_job(PoolingJob.TRAIN, system=s) for s in every.exclude(state=SystemState.TRAINED)])
    pool = Pool.objects.filter(name="wn-test-s").first()
    if pool is None:
        filters = ["category-head", "category-tail"]  # the paper's rule
        pool = create_pool(graph, name="wn-test-s", sample=0.05, seed=42, depth=10, filters=filters)
        run_jobs([start_job(PoolingJob.BUILD_POOL, pool=pool)])
    rows: list[list[object]] = [
        [s.name, s.validation_mrr, s.epochs_done, round(s.train_seconds)] for s in every.order_by("id")
    ]
    content = metrics(pool, "full-test")
    names = list(content["n"])
    values = [[system, *(row[name] for name in names)] for system, row in content["systems"].items()]
    return [
        f"{graph.num_train:,} train, {graph.num_valid:,} valid, {graph.num_test:,} test triples. Systems:\n\n"
        + table(["system", "validation MRR", "epochs", "training s"], rows),
        f"Measures under the full test:\n\n{table(['system', *names], values)}",
        *analyses(pool, ("stability", "full-test"), ("discriminative", "full-test")),
    ]


def written(each: "Table") -> str:
    """Return a table of a page as Markdown: numbers as pages write them, with interval or deviation."""
    kinds = [column.kind for column in each.columns]

    def text(value: object, kind: str) -> str:
        more = spread_text(value, kind) if isinstance(value, dict) else ""
        return f"{cell_text(value, kind)} {more}".strip()

    rows = [[text(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in each.rows]
    return table([column.label for column in each.columns], rows)


def _percent() -> Tell:
    last = [0]

    def tell(done: int, total: int) -> None:
        if done * 10 // total > last[0]:
            last[0] = done * 10 // total
            say(f"  {done * 100 // total} %")

    return tell


if __name__ == "__main__":
    main()
