"""Time ranking and training on a GPU, on FB15k-237 and on a graph of the size of Wikidata5M.

    python benchmarks/gpu.py --quick                 two systems on a part of everything, within a minute
    python benchmarks/gpu.py                         all parts
    python benchmarks/gpu.py --parts ranking,large   some of: ranking, large, training, systems

- ranking: filtered ranks and 100 candidates of all FB15k-237 test triples, against PyKEEN's evaluator on the same GPU
  and the same weights, and against the bare matrix products with three reads of the scores. MRRs are compared.
- large: 10,000 questions against 4.6 million entities, with the model on the device and streamed from the host.
- sparse: training steps on that graph with Adagrad, dense and sparse.
- training: an epoch of each preset from the median batch, and the peak of memory beside the estimate.
- systems: the thirteen systems of Zhou et al. (2022) trained with the whole presets of large graphs and seed 1, several
  processes at once, and ranked on the test triples.

Each part leaves FOLDER/NAME.json. `--write` makes the section of docs/measured from the files that are there, also on
a machine without a GPU.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.graphs import fb15k237
from benchmarks.report import write_section
from pooling.learning.batches import BATCHES, Batches
from pooling.learning.loop import Training, train_system
from pooling.learning.losses import make_optimizer
from pooling.learning.memory import estimate_bytes
from pooling.questions.kernel import answers_csr, questions_of, without
from pooling.scoring.ranking import rank_of_triples, score_questions
from pooling.scoring.scorer import HEIGHT_GPU, TILE_GPU, Scorer, build_model, load_scorer
from pooling.scoring.torch_state import full_precision
from pooling.systems import get_model
from pooling.systems.spec import CommonSettings, SystemSpec, common_settings

PARTS = ("ranking", "large", "sparse", "training", "systems")
RANKED = ("distmult", "complex", "transe", "rotate", "transe-l1", "rescal", "conve")  # which PyKEEN has too
LARGE = ("distmult", "complex", "transe", "rotate")
SPARSE = ("distmult", "complex")
THIRTEEN = ("atte", "tucker", "bique", "hake", "rescal", "rotate", "conve", "interacte", "compgcn", "hitter", "complex",
            "distmult", "transe")  # fmt: skip
DIM, PYKEEN_BATCH = 256, 256
ENTITIES, RELATIONS, LARGE_DIM, TRIPLES = 4_600_000, 822, 128, 5000  # of the large graph
SEED, ENDING = 1, 45  # seconds that a process takes beside its training


def clock(act: Callable[[], object]) -> float:
    """Return the seconds that `act` takes, its work on the GPU included."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    act()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def floor_of(width: int, entities: int, questions: int) -> float:
    """Return the seconds of the bare products in full float32, and of three reads of the scores."""
    features, query = torch.randn(entities, width, device="cuda"), torch.randn(HEIGHT_GPU, width, device="cuda")
    buffer = torch.empty(HEIGHT_GPU, min(entities, 4 * TILE_GPU), device="cuda")

    def products() -> None:
        for _ in range(-(-questions // HEIGHT_GPU)):
            for part in features.split(buffer.shape[1]):
                scores = buffer[:, : len(part)]
                torch.mm(query, part.T, out=scores)
                for _ in range(3):
                    scores.sum()

    with full_precision():
        return statistics.median(clock(products) for _ in range(4))


# -- ranking -----------------------------------------------------------------------------------------------------


def pykeen_evaluation(model: Any, splits: list[np.ndarray], size: int) -> tuple[float, float]:
    """Return the seconds of PyKEEN's filtered evaluation of `size` test triples, and the MRR that it finds."""
    from pykeen.evaluation import RankBasedEvaluator

    train, valid, test = (torch.as_tensor(x).long() for x in splits)
    found: list[Any] = []

    def evaluate() -> None:
        found.append(
            RankBasedEvaluator().evaluate(
                model,
                test[:size],
                additional_filter_triples=[train, valid, test],
                batch_size=PYKEEN_BATCH,
                use_tqdm=False,
            )
        )

    seconds = clock(evaluate)
    return seconds, float(found[0].get_metric("both.realistic.inverse_harmonic_mean_rank"))


@torch.no_grad()
def rank_one(name: str, part: int, repeats: int) -> dict[str, Any]:
    """Return the times of one system, in seconds for all test triples, and both MRRs, PyKEEN's of 1 / part of them."""
    train, valid, test, entities, relations = fb15k237()
    test = test[np.random.default_rng(0).permutation(len(test))]
    size = len(test) // part
    spec = get_model(name)
    model = build_model(spec, entities, relations, {**spec.preset(entities, len(train)), "embedding_dim": DIM}, SEED)
    scorer = Scorer(spec, model, "cuda")
    questions, _, _ = questions_of(test)
    known = answers_csr(questions, np.concatenate([train, valid]), entities, relations)
    wanted = answers_csr(questions, test, entities, relations)

    def ours() -> None:
        score_questions(scorer, questions, masked=known, top_masked=wanted, wanted=wanted, seed=SEED)

    clock(ours)
    torch.cuda.reset_peak_memory_stats()
    seconds = statistics.median(clock(ours) for _ in range(repeats))
    peak = torch.cuda.max_memory_allocated()
    floor = floor_of(scorer.features.shape[1], entities, len(questions.side)) if spec.form != "pointwise" else None
    pykeen_evaluation(model, [train, valid, test], size)  # it looks once for what fits into memory
    theirs, their_mrr = pykeen_evaluation(model, [train, valid, test], size)
    ranks = rank_of_triples(scorer, test[:size], train, valid, test, num_relations=relations)
    return {
        "system": spec.label,
        "seconds": seconds,
        "questions": len(questions.side),
        "peak": peak,
        "floor": floor,
        "pykeen": theirs * len(test) / size,
        "mrr": ranks.mrr,
        "pykeen_mrr": their_mrr,
    }


# -- a large graph -----------------------------------------------------------------------------------------------


@torch.no_grad()
def rank_large(name: str, entities: int, repeats: int) -> dict[str, Any]:
    """Return times and peaks for a large graph, on the device and streamed, and the share of equal ranks."""
    rng = np.random.default_rng(SEED)
    train, test = (
        np.stack([rng.integers(0, high, size) for high in (entities, RELATIONS, entities)], 1)
        for size in (2_000_000, TRIPLES)
    )
    questions, _, _ = questions_of(test)
    wanted = answers_csr(questions, test, entities, RELATIONS)
    known = without(answers_csr(questions, train, entities, RELATIONS), wanted, entities)
    spec = get_model(name)
    settings = {**spec.preset(entities, 20_000_000), "embedding_dim": LARGE_DIM}
    with torch.device("cuda"):
        model = build_model(spec, entities, RELATIONS, settings, SEED)
    row: dict[str, Any] = {"system": spec.label, "questions": len(questions.side)}
    results = []
    for place in ("device", "streamed"):
        scorer = Scorer(spec, model if place == "device" else model.to("cpu"), "cuda", streamed=place == "streamed")
        row["width"] = scorer.features.shape[1]

        def ours(scorer: Scorer = scorer) -> None:
            results.append(
                score_questions(scorer, questions, masked=known, top_masked=wanted, wanted=wanted, seed=SEED)
            )

        torch.cuda.empty_cache()
        clock(ours)
        torch.cuda.reset_peak_memory_stats()
        row[place] = statistics.median(clock(ours) for _ in range(repeats))
        row[f"{place}_peak"] = torch.cuda.max_memory_allocated()
        del scorer, ours
    row["equal"] = float(np.mean(results[0].strict == results[-1].strict))
    torch.cuda.empty_cache()
    row["floor"] = floor_of(row["width"], entities, len(questions.side))
    return row


def step_large(name: str, entities: int, steps: int) -> dict[str, Any]:
    """Return seconds of a training step and peaks of memory with dense and with sparse gradients."""
    rng = np.random.default_rng(SEED)
    train = np.stack([rng.integers(0, high, 2_000_000) for high in (entities, RELATIONS, entities)], 1)
    spec = get_model(name)
    row: dict[str, Any] = {"system": spec.label}
    for optimizer in ("adagrad", "sparse-adagrad"):
        chosen = {**spec.preset(entities, 20_000_000), "embedding_dim": LARGE_DIM, "optimizer": optimizer}
        settings = common_settings(chosen)
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        with torch.device("cuda"):
            model = build_model(spec, entities, RELATIONS, chosen, SEED).train()
        rows = BATCHES[settings["objective"]](train, entities, settings, "cuda")
        stepping = stepper(spec, model, rows, settings, "cuda")
        stepping(5)
        row[optimizer] = clock(partial(stepping, steps)) / steps
        row[f"{optimizer}_peak"] = torch.cuda.max_memory_allocated()
        row[f"{optimizer}_estimate"] = estimate_bytes(spec, entities, RELATIONS, chosen, train)
        del model, rows, stepping
    return row


# -- training ----------------------------------------------------------------------------------------------------


def stepper(
    spec: SystemSpec, model: Any, rows: Batches, settings: CommonSettings, device: str
) -> Callable[[int], None]:
    """Return a function that trains some batches."""
    optimizer, drawn = make_optimizer(model, settings, device), iter(rows.draw())

    def steps(count: int) -> None:
        for batch in itertools.islice(drawn, count):
            optimizer.zero_grad(set_to_none=True)
            rows.loss(spec, model, batch).backward()
            optimizer.step()
            model.post_parameter_update()

    return steps


def epoch_seconds(name: str, device: str, batches: int, warm: int) -> float:
    """Return the seconds of an epoch with the preset: the mean of `batches` of them after `warm`, times their number.

    A GPU is waited for at the end alone, as in a training.
    """
    train, _, _, entities, relations = fb15k237()
    spec = get_model(name)
    preset = spec.preset(entities, len(train))
    settings = common_settings(preset)
    model = build_model(spec, entities, relations, preset, SEED, train).to(device).train()
    rows = BATCHES[settings["objective"]](train, entities, settings, device)
    steps = stepper(spec, model, rows, settings, device)
    steps(warm)
    return clock(lambda: steps(batches)) / batches * len(rows)


def train_one(name: str, batches: int, cpu: bool) -> dict[str, Any]:
    """Return an epoch's seconds on the GPU and on the CPU, and the peak of memory beside its estimate."""
    train, _, _, entities, relations = fb15k237()
    spec = get_model(name)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    return {
        "system": spec.label,
        "gpu": epoch_seconds(name, "cuda", batches, 10),
        "peak": torch.cuda.max_memory_allocated(),
        "estimate": estimate_bytes(spec, entities, relations, spec.preset(entities, len(train)), train),
        "cpu": epoch_seconds(name, "cpu", 3, 1) if cpu else None,
        "threads": torch.get_num_threads(),
    }


def train_whole(name: str, folder: Path, seconds: float) -> dict[str, Any]:
    """Train a system with its preset, for `seconds` at most, and return its figures on the test triples."""
    train, valid, test, entities, relations = fb15k237()
    spec = get_model(name)
    settings = {**spec.preset(entities, len(train)), "max_seconds": seconds}
    size = entities, relations
    asked = Training(name, train, valid, *size, settings, seed=SEED, directory=folder, device="cuda", threads=1)
    result = train_system(asked)
    scorer = load_scorer(name, folder, *size, settings, "cuda", train)
    rank = rank_of_triples(scorer, test, train, valid, num_relations=relations).realistic
    mrr = float(np.mean(1 / rank))
    hits = {str(k): float(np.mean(rank <= k)) for k in (1, 3, 10)}
    row = {"system": spec.label, "seconds": result.seconds, "epochs": result.epochs_done, "best": result.best_epoch}
    return {**row, "of": settings["epochs"], "validation_mrr": result.validation_mrr, "mrr": mrr, "hits": hits}


def train_all(names: list[str], out: Path, at_once: int, limit: float) -> None:
    """Train systems in processes of their own, `at_once` of them, for `limit` seconds at most in all."""
    end = time.monotonic() + limit
    waiting, running = list(names), dict[str, subprocess.Popen[bytes]]()
    while (waiting or running) and time.monotonic() < end:
        while waiting and len(running) < at_once:
            name = waiting.pop(0)
            left = ["--limit", str(end - time.monotonic() - ENDING)]
            running[name] = subprocess.Popen(
                [sys.executable, __file__, "--one", name, "--folder", str(out), *left], stderr=subprocess.DEVNULL
            )
        time.sleep(0.2)
        running = {name: process for name, process in running.items() if process.poll() is None}
    for process in running.values():
        process.kill()


# -- tables ------------------------------------------------------------------------------------------------------


def card() -> str:
    """Return card, driver and version of PyTorch."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    name, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(", ")
    return f"{name}, driver {driver}, torch {torch.__version__}"


def gib(number: float) -> str:
    return f"{number / (1 << 30):.1f}"


def table(head: str, rows: list[str]) -> list[str]:
    return [head, "|---" * (head.count("|") - 1) + "|", *rows]


def section(found: dict[str, Any]) -> str:
    """Return the section, with a table for each part that was measured."""
    text = ["## GPU"]
    if part := found.get("ranking"):
        text += [
            "",
            f"Filtered ranks and 100 candidates for both sides of all FB15k-237 test triples, dimension {DIM} (ComplEx"
            f" and RotatE: complex numbers), full float32, medians. Card: {part['card']}. PyKEEN's RankBasedEvaluator"
            f" ran on the same card with the same weights, in batches of {PYKEEN_BATCH}; its second run is timed, since"
            " the first looks for what fits into memory. *Floor* is the bare matrix products and three reads of the"
            " scores. Both rank the same random weights; the last column compares their MRRs.",
            "",
            *table(
                "| system | ours, s | questions/s | PyKEEN, s | times as fast | floor, s | ours / floor | peak, GiB"
                " | MRR differs by |",
                [
                    f"| {r['system']} | {r['seconds']:.2f} | {r['questions'] / r['seconds']:,.0f} | {r['pykeen']:.1f}"
                    f" | {r['pykeen'] / r['seconds']:.0f} | "
                    + (f"{r['floor']:.3f} | {r['seconds'] / r['floor']:.1f}" if r["floor"] else " | ")
                    + f" | {gib(r['peak'])} | {abs(r['mrr'] - r['pykeen_mrr']):.0e} |"
                    for r in part["rows"]
                ],
            ),
        ]
    if part := found.get("large"):
        text += [
            "",
            f"A graph of the size of Wikidata5M: {part['entities']:,} entities, {RELATIONS} relations, dimension"
            f" {LARGE_DIM} (ComplEx and RotatE: complex numbers), drawn triples, ranks and 100 candidates. Card:"
            f" {part['card']}. *Streamed* keeps the model in pinned host memory and copies the entities tile by tile;"
            " the host then computes the queries. *Same ranks* compares both: with drawn weights, many of the 4.6"
            " million scores are nearer to each other than the last bit of a query.",
            "",
            *table(
                "| system | questions | on the device, s | questions/s | peak, GiB | streamed, s | questions/s"
                " | peak, GiB | floor, s | same ranks |",
                [
                    f"| {r['system']} | {r['questions']:,} | {r['device']:.2f} | {r['questions'] / r['device']:,.0f}"
                    f" | {gib(r['device_peak'])} | {r['streamed']:.2f} | {r['questions'] / r['streamed']:,.0f}"
                    f" | {gib(r['streamed_peak'])} | {r['floor']:.2f} | {100 * r['equal']:.2f} % |"
                    for r in part["rows"]
                ],
            ),
        ]
    if part := found.get("sparse"):
        text += [
            "",
            f"Training steps on such a graph, dimension {LARGE_DIM}, the preset otherwise. Card: {part['card']}."
            " *adagrad* reads and writes all tables in every step, *sparse-adagrad* only the rows of the batch.",
            "",
            *table(
                "| system | adagrad, ms/step | peak, GiB | estimate, GiB | sparse-adagrad, ms/step | peak, GiB"
                " | estimate, GiB | times as fast |",
                [
                    f"| {r['system']} | "
                    + " | ".join(
                        f"{1000 * r[key]:.1f} | {gib(r[f'{key}_peak'])} | {gib(r[f'{key}_estimate'])}"
                        for key in ("adagrad", "sparse-adagrad")
                    )
                    + f" | {r['adagrad'] / r['sparse-adagrad']:.1f} |"
                    for r in part["rows"]
                ],
            ),
        ]
    if part := found.get("training"):
        threads = part["rows"][0]["threads"]
        text += [
            "",
            "An epoch on FB15k-237 with each system's preset, from the mean of some batches, full float32. Card:"
            f" {part['card']}. *CPU* is the same on {threads} threads of that machine.",
            "",
            *table(
                "| system | GPU, s/epoch | CPU, s/epoch | ratio | peak, GiB | estimate, GiB |",
                [
                    f"| {r['system']} | {r['gpu']:.1f} | "
                    + (f"{r['cpu']:.0f} | {r['cpu'] / r['gpu']:.0f}" if r["cpu"] else " | ")
                    + f" | {gib(r['peak'])} | {gib(r['estimate'])} |"
                    for r in part["rows"]
                ],
            ),
        ]
    if part := found.get("systems"):
        text += [
            "",
            "The thirteen systems of Zhou et al. (2022) with the whole presets for large graphs, seed"
            f" {SEED}, {part['at_once']} processes at once on one card: {part['card']}. *Best* is the epoch of the"
            " highest validation MRR, whose weights are ranked on all test triples. Fewer epochs than the preset has:"
            " the patience of the preset ran out, or, with HittER, the time; HittER trained alone.",
            "",
            *table(
                "| system | epochs | best | training, s | validation MRR | test MRR | Hits@1 | Hits@3 | Hits@10 |",
                [
                    f"| {r['system']} | {r['epochs']} of {r['of']} | {r['best']} | {r['seconds']:.0f}"
                    f" | {r['validation_mrr']:.4f} | {r['mrr']:.4f} | {r['hits']['1']:.4f} | {r['hits']['3']:.4f}"
                    f" | {r['hits']['10']:.4f} |"
                    for r in part["rows"]
                ],
            ),
        ]
    return "\n".join(text)


# -- running -----------------------------------------------------------------------------------------------------


def measure(part: str, out: Path, quick: bool, names: list[str], at_once: int, limit: float) -> None:
    """Measure one part and leave its file, which is written anew after every system."""
    if part == "systems":
        train_all([name for name in THIRTEEN if not names or name in names], out / "systems", at_once, limit)
        collect(out, at_once)
        return
    every = {"ranking": RANKED, "large": LARGE, "sparse": SPARSE, "training": THIRTEEN}[part]
    chosen = [name for name in every if name in names] if names else list(every[: 2 if quick else None])
    about: dict[str, Any] = {"card": card(), "rows": []}
    entities = ENTITIES // 10 if quick else ENTITIES
    for name in chosen:
        begin = time.monotonic()
        if part == "ranking":
            row = rank_one(name, 20 if quick else 1, 3 if quick else 5)
        elif part == "large":
            row = rank_large(name, entities, 1 if quick else 2)
            about["entities"] = entities
        elif part == "sparse":
            row = step_large(name, entities, 10 if quick else 100)
            about["entities"] = entities
        else:
            row = train_one(name, 10 if quick else 60, cpu=not quick and name != "hitter")  # minutes a batch
        about["rows"].append(row)
        (out / f"{part}.json").write_text(json.dumps(about, indent=1) + "\n")
        print(f"{part} ({time.monotonic() - begin:.0f} s): {row}", flush=True)
        torch.cuda.empty_cache()


def collect(out: Path, at_once: int) -> None:
    """Write the figures of all whole trainings into one file."""
    rows = [json.loads(path.read_text()) for path in sorted((out / "systems").glob("*.json"))]
    rows.sort(key=lambda row: -row["mrr"])
    text = json.dumps({"card": card(), "at_once": at_once, "rows": rows}, indent=1)
    (out / "systems.json").write_text(text + "\n")


def main() -> None:
    """Run what is asked for, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two systems on a part of everything")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--names", default="", help="some systems; the section is not written")
    parser.add_argument("--folder", type=Path, default=Path("var/gpu"))
    parser.add_argument("--at-once", type=int, default=6, help="whole trainings in processes of their own")
    parser.add_argument("--limit", type=float, default=3600, help="seconds for the part systems")
    parser.add_argument("--write", action="store_true", help="only write the section from what is in the folder")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    args = parser.parse_args()
    out: Path = args.folder
    out.mkdir(parents=True, exist_ok=True)
    names = [name for name in args.names.split(",") if name]
    if args.one:
        with tempfile.TemporaryDirectory() as folder:
            row = train_whole(args.one, Path(folder), args.limit)
        (out / f"{args.one}.json").write_text(json.dumps(row))
        print(row, flush=True)
        return
    if not args.write:
        if not torch.cuda.is_available():
            sys.exit("PyTorch sees no GPU here. --write makes the section from figures of another machine.")
        parts = args.parts.split(",")
        for part in PARTS:
            if part in parts and not (part == "systems" and args.quick):
                (out / "systems").mkdir(exist_ok=True)
                measure(part, out, args.quick, names, args.at_once, args.limit)
    if not args.quick and not names:
        write_section("gpu", section({path.stem: json.loads(path.read_text()) for path in out.glob("*.json")}))


if __name__ == "__main__":
    main()
