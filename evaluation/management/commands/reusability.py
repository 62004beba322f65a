"""Say whether labels are fair to a system outside the pool, and which systems they can compare."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from core.management.shell import also_called, value_text
from evaluation.labels.label_sets import HELP
from evaluation.management.options import add_assumed, add_labels, add_questions, add_systems
from evaluation.reusability.sections import reusability_json
from evaluation.sections.settings import RANKING, parse_settings
from pooling.management.pool_command import Options, PoolCommand
from pooling.models import Pool

TAKEN = ("labels", "measures", "questions", "assumed", "share", "systems")


class Command(PoolCommand):
    help = "Leave out each system and each family of a pool in turn, and say how much of every system is judged."

    def add_options(self, parser: ArgumentParser) -> None:
        parser.add_argument("--measures", default=",".join(RANKING), help="names of measures, comma-separated")
        add_labels(parser, HELP.replace("full-test, ", ""))
        add_questions(
            parser, "grown: every question with an answer; original: only the questions of the seeds among them"
        )
        add_assumed(parser, "whether filtered triples count as judged negatives")
        comparable = (
            "smallest judged share of its top candidates with which a system is comparable; candidates that no pool "
            "can contain do not count"
        )
        least = parser.add_argument("--judged-share", dest="share", default="0.9", help=comparable)
        also_called(parser, least, "--share")
        add_systems(parser)

    def find(self, pool: Pool, options: Options) -> dict[str, Any]:
        return reusability_json(pool, parse_settings({name: options[name] for name in TAKEN}, TAKEN))

    def lines(self, found: dict[str, Any], options: Options) -> Iterator[str]:
        yield from found["says"]
        for what, groups in found["without"].items():
            for measure in found["measures"]:
                yield f"{measure}, without one {what}:"
                yield f"  {'left out':18}{'only it':>9}{'positive':>9}{'tau':>7}  places, all and without"
                yield from (_left_out(name, row, measure) for name, row in groups.items())
        yield f"{'system':18}{'pooled':>8}{'judged':>11}{'of possible':>13}{'to judge':>10}  comparable"
        for name, row in found["judged"].items():
            pooled, comparable = ("yes" if row[key] else "no" for key in ("pooled", "comparable"))
            share = value_text(row["at"][str(row["k"])], ".2f", "–")
            possible = value_text(row["of_possible"][str(row["k"])], ".2f", "–")
            yield f"{name:18}{pooled:>8}{share:>11}{possible:>13}{row['missing']:>10,}  {comparable}"


def _left_out(name: str, row: dict[str, Any], measure: str) -> str:
    one = row["measures"][measure]
    tau = value_text(one["tau"], ".2f", "–")
    moves = ", ".join(f"{system} {before} to {after}" for system, (before, after) in one["own"].items())
    return f"  {name:18}{row['triples']:>9,}{row['positives']:>9,}{tau:>7}  {moves}"
