"""Measure how many labels each order of judging needs, on pools whose labels are known.

    python benchmarks/replay.py --quick                    a small family graph; the last line is the main ratio
    python benchmarks/replay.py [--folder var/study]       the published pool of FB15k-237 with the six systems that
                                                           benchmarks/fb15k237_study.py trained into this folder;
                                                           writes tables and chart into docs

Depth is that of the six runs, which all orders see; they did not make the published pool. Tau is between the order of
the systems under the labels so far and under all of them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import replay_chart
from benchmarks.report import write_section
from benchmarks.scratch import scratch_site

if TYPE_CHECKING:
    from core.callbacks import Tell
    from pooling.models import Pool

ROOT = Path(__file__).resolve().parent.parent
POOL, CHART = "fb-test-s", "replay-orders.svg"
MODES: dict[str, dict[str, Any]] = {
    "one at a time": {"batch": 1},
    "50 at a time": {"batch": 50},
    "50, whole questions": {"batch": 50, "whole_groups": True},
}
SHOWN = MODES.keys() - {"one at a time"}
SHARES = (0, 5, 10, 20, 30, 40, 50, 60, 80)  # percent of the triples, in the tables
SEEDS = range(5)

Content = dict[str, Any]


def run(pool: Pool, truth: str, seeds: Sequence[int], modes: Sequence[str]) -> dict[str, Content]:
    """Replay every order in every mode, and return the results after each percent of the triples."""
    from core.management.shell import Ticker
    from evaluation.measures.registry import USUAL_NAMES
    from evaluation.planning.replay import read_truth, replay_orders
    from pooling.orders import ORDERS

    known, ticker = read_truth(pool, truth), Ticker(sys.stderr)
    measures = [name for name in USUAL_NAMES if not name.startswith("judged")]  # of pooling, not of systems

    def tell(mode: str) -> Tell:
        return lambda done, total: ticker(mode, done, total)

    return {
        mode: replay_orders(
            pool,
            known,
            list(ORDERS),
            measures=measures,
            seeds=seeds,
            shares=range(101),
            depth_of_runs=True,
            tell=tell(mode),
            **MODES[mode],
        )
        for mode in modes
    }


def mean_tau(found: Content) -> list[float]:
    """Return the mean tau over the measures, at each share."""
    return np.mean([[cell["mean"] for cell in cells] for cells in found["tau"].values()], axis=0).tolist()


def recall(found: Content) -> list[float]:
    return [cell["mean"] for cell in found["recall"]]


def with_interval(cell: dict[str, float | None], whole: int) -> str:
    """Return triples as percent of all, with the half width of the interval."""
    mean, high = cell["mean"], cell["high"]
    if mean is None or high is None:
        return "undefined"
    return f"{100 * mean / whole:.0f} % ± {100 * (high - mean) / whole:.1f}"


def positives_table(results: dict[str, Content]) -> list[str]:
    lines = [f"| order | {' | '.join(results)} |", "|---" * (len(results) + 1) + "|"]
    for name in next(iter(results.values()))["orders"]:
        cells = []
        for content in results.values():
            cell = content["orders"][name]["triples_for_positives"]
            cells.append(f"{cell['mean']:,.0f} ({with_interval(cell, content['triples'])})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def stable_table(content: Content) -> list[str]:
    lines = [f"| order | {' | '.join(content['measures'])} |", "|---" * (len(content["measures"]) + 1) + "|"]
    for name, found in content["orders"].items():
        cells = [with_interval(cell, content["triples"]) for cell in found["triples_until_stable"].values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def shares_table(content: Content) -> list[str]:
    lines = [f"| order | {' | '.join(f'{share} %' for share in SHARES)} |", "|---" * (len(SHARES) + 1) + "|"]
    for name, found in content["orders"].items():
        cells = [f"{recall(found)[share]:.2f} / {mean_tau(found)[share]:.2f}" for share in SHARES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def chart(results: dict[str, Content]) -> str:
    panels = []
    for mode, content in results.items():
        for what, axis, values in (
            ("Positives found", "share of all positives", recall),
            ("Ranking", "tau with the final ranking, mean over measures", mean_tau),
        ):
            lines = {name: values(found) for name, found in content["orders"].items()}
            panels.append((f"{what} by triples judged, {mode}", axis, lines))
    return replay_chart.svg(
        panels,
        "Orders of judging on the published pool of FB15k-237",
        "Four panels: positives found and agreement with the final ranking, by share of the pool judged, for eight "
        "orders, with and without whole questions. The tables beside it hold the same figures.",
    )


def section(results: dict[str, Content], by_pool: Content) -> str:
    content = results["50 at a time"]
    own = by_pool["orders"]["depth"]["triples_for_positives"]
    parts = [
        "## Orders of judging",
        f"The published pool of FB15k-237 judged again: {content['triples']:,} triples for people, "
        f"{content['positives']:,} positive, six systems trained here ({', '.join(content['runs'])}), "
        f"{len(content['seeds'])} seeds, ± half of the 95 % interval of their mean. Every order sees the same "
        "six runs; depth is the best rank in them. With six systems, tau is at least 0.9 only if all 15 pairs are "
        "in the final order, or if one is tied.",
        f"With the depths of the published pool (by its own systems), the order *depth* needs {own['mean']:,.0f} "
        f"triples ({with_interval(own, by_pool['triples'])}). Positives are near the top of our runs, "
        "not of those systems.",
        "Triples judged until 80 % of the positives are found:",
        "\n".join(positives_table(results)),
        f"![Positives found and agreement with the final ranking, by share of the pool judged, for eight orders]"
        f"(images/{CHART})",
    ]
    for mode in MODES:
        if mode in SHOWN:
            parts += [
                f"Recall of positives / mean tau over {len(content['measures'])} measures by share of the triples "
                f"judged, {mode}:",
                "\n".join(shares_table(results[mode])),
                f"Share of the triples judged until tau stays at 0.9 or more, {mode}:",
                "\n".join(stable_table(results[mode])),
            ]
    return "\n\n".join(parts)


def ratio(content: Content) -> str:
    need = {name: found["triples_for_positives"]["mean"] for name, found in content["orders"].items()}
    return f"replay: hedge takes {need['hedge'] / need['depth']:.2f} x the triples of depth to find 80 % of positives"


def quick() -> None:
    """Replay a small family graph: three systems trained for some seconds, the closed world as truth."""
    with scratch_site():
        from django.core.management import call_command

        from pooling.pools.build import get_pool

        call_command("import_graph", "demo", "--family-tree", "--families", "3", "--density", "0.5")
        call_command(
            "train_systems", "demo", "--systems", "transe,distmult,complex", "--device", "cpu", "--set", "epochs=20"
        )
        call_command("build_pool", "demo", "--name", "demo", "--sample", "0.1")
        results = run(get_pool("demo"), "closed-world", range(2), ["50 at a time"])
    print("\n".join(positives_table(results)))
    print(ratio(results["50 at a time"]))


def study(folder: Path, docs: bool) -> None:
    os.environ["TRIPLEPOOL_VAR"] = str(folder.resolve())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    from core.errors import UserError
    from pooling.pools.build import get_pool

    call_command("migrate", verbosity=0, skip_checks=True)
    try:
        pool = get_pool(POOL)
    except UserError as error:
        raise SystemExit(f"{folder}: {error} Run benchmarks/fb15k237_study.py first.") from error
    truth = str(Path(settings.DATA_ROOT) / POOL / "human_labels.tsv.gz")
    results = run(pool, truth, SEEDS, list(MODES))
    from evaluation.planning.replay import read_truth, replay_orders

    by_pool = replay_orders(pool, read_truth(pool, truth), ["depth"], measures=["micro_mrr"], batch=50, seeds=SEEDS)
    text = section(results, by_pool)
    print(text)
    if docs:
        images = ROOT / "docs" / "images" / CHART
        replay_chart.write(images, chart({mode: results[mode] for mode in MODES if mode in SHOWN}))
        write_section("replay", text)
    print(ratio(results["50 at a time"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="within a minute; nothing written")
    parser.add_argument("--folder", type=Path, default=ROOT / "var" / "study", help="of the study")
    parser.add_argument("--no-docs", action="store_true", help="write nothing into docs")
    arguments = parser.parse_args()
    if arguments.quick:
        quick()
    else:
        study(arguments.folder, docs=not arguments.no_docs)


if __name__ == "__main__":
    main()
