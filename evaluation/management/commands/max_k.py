"""Measure precision, recall and F1 of systems that may return at most k entities, beside the limits of an oracle."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from core.management.shell import names_in
from evaluation.labels.pool_table import EvaluationError
from evaluation.management.options import add_labels, add_questions, add_systems
from evaluation.max_k.sections import max_k_json
from evaluation.max_k.stored_runs import WHICH
from evaluation.sections.compared import compared_notes
from pooling.management.pool_command import Options, PoolCommand
from pooling.models import Pool


class Command(PoolCommand):
    help = (
        "Print max-k measures: P, R and F1 at k of TopK, Sampling and Greedy, filtered and raw, with the limits of "
        "top-k and max-k."
    )

    def add_options(self, parser: ArgumentParser) -> None:
        add_labels(parser)
        parser.add_argument("--k", default="1,10,100", help="comma-separated, each from 1 to 100")
        add_questions(
            parser, "grown: every question with an answer; original: only the questions of the seeds among them"
        )
        add_systems(parser)

    def find(self, pool: Pool, options: Options) -> dict[str, Any]:
        chosen = (options["questions"], names_in(options["systems"]))
        found = max_k_json(pool, options["labels"], _numbers(options["k"]), *chosen)
        self.warn(f"Left out: {name}, {reason}" for name, reason in found["left_out"].items())
        self.warn(compared_notes(found["compared"]))
        return found

    def lines(self, found: dict[str, Any], options: Options) -> Iterator[str]:
        yield f"{found['name']}: {found['questions']:,} questions"
        for which in WHICH:
            yield from _table(which, found)


def _table(which: str, found: dict[str, Any]) -> Iterator[str]:
    width = max(map(len, [*found["systems"], "max-k limit"]))
    answers = "are wrong" if which == "filtered" else "are right"
    yield f"\n{which} (answers of train and valid {answers})"
    ks = list(found["limits"][which]["top-k"])
    head = "".join(f"{f'{short}@{k}':>8}" for k in ks for short in ("P", "R", "F1"))
    yield f"{'':{width}}  {'':8}{head}"
    for name, one in found["systems"].items():
        for protocol, by_k in one[which]["protocols"].items():
            yield f"{name:{width}}  {protocol:8}{_row(by_k)}"
        mass = f"mass of the right answers {one[which]['mass']:.4f}"
        yield f"{'':{width}}  α {one['alpha']:g}, TVD {one['tvd']:.4f}, {mass}"
    for bound, by_k in found["limits"][which].items():
        yield f"{bound + ' limit':{width}}  {'':8}{_row(by_k)}"


def _row(by_k: dict[str, dict[str, float]]) -> str:
    return "".join(f"{values[part]:8.3f}" for values in by_k.values() for part in ("precision", "recall", "f1"))


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise EvaluationError(f"--k is {text[:40]!r}: give numbers with commas, as 1,10,100.") from error
