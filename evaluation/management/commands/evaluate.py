"""Evaluate every system of a pool's graph under a label set."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from core.management.shell import names_in, value_text
from evaluation.management.options import add_assumed, add_labels, add_questions, add_seeds, add_systems
from evaluation.measures.registry import USUAL_NAMES
from evaluation.sections.compared import Compared, compared_notes
from evaluation.sections.metrics import metrics
from pooling.management.pool_command import Options, PoolCommand
from pooling.models import Pool


class Command(PoolCommand):
    help = "Print the measures of a pool's systems. This reads rank rows and needs no models."

    def add_options(self, parser: ArgumentParser) -> None:
        parser.add_argument("--measures", default=",".join(USUAL_NAMES), help="names of measures, comma-separated")
        add_labels(parser)
        add_assumed(parser, "whether filtered triples count as judged negatives")
        every = "grown: every question with an answer under these labels"
        add_questions(parser, f"{every}; original: only the questions of the seeds among them")
        add_seeds(parser)
        add_systems(parser)

    def find(self, pool: Pool, options: Options) -> dict[str, Any]:
        measures, judged = names_in(options["measures"]), options["assumed"] == "judged"
        if not measures:
            raise CommandError("--measures is empty: name some, or leave it out for the usual ones.")
        try:
            chosen = (options["questions"], options["seeds"], names_in(options["systems"]))
            found = metrics(pool, options["labels"], measures, judged, *chosen)
        except ValueError as error:
            raise CommandError(f"--measures: {error}") from error
        self.warn_left_out(found["left_out"], pool)
        self.warn(compared_notes(found["compared"]))
        return found

    def content(self, found: dict[str, Any]) -> dict[str, Any]:
        reasons = {system: why for system, why in found["reasons"].items() if why}
        families: dict[str, Any] = {name: found[name] for name in ("families", "notes") if name in found}
        shown = {name: found[name] for name in ("labels", "systems", "compared")}
        return {**shown, "reasons": reasons | _left(found["compared"]), **families}

    def lines(self, found: dict[str, Any], options: Options) -> Iterator[str]:
        counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in found["counts"].items())
        asked = ", questions of the seeds only" if options["questions"] == "original" else ""
        yield f"{found['name']}{asked}: {counts}"
        names = list(found["n"])
        rows = []
        for system, row in found["systems"].items():
            rows.append([system, *(value_text(row[name]) for name in names)])
            if family := found.get("families", {}).get(system):
                mean, sd = ([value_text(family[part][name]) for name in names] for part in ("mean", "sd"))
                rows += [[f"  mean of {len(family['seeds'])} seeds", *mean], ["  standard deviation", *sd]]
        columns = [f"<{max(len(row[0]) for row in (*rows, ['system']))}", *(">13" for _ in names)]
        for row in (["system", *names], *rows, ["n", *(f"{found['n'][name]:,}" for name in names)]):
            yield "  ".join(map(format, row, columns))
        self.warn(found.get("notes", ()))
        self.warn(_reasons(found["reasons"]))


def _left(found: Compared) -> dict[str, dict[str, str]]:
    """Return the reason for each system that is left out, for all measures, and of what the others lack."""
    dropped = {name: f"not asked {count:,} of {found['of']:,} questions" for name, count in found["dropped"].items()}
    told = dropped | dict.fromkeys(found["unasked"], "asked no question of this pool")
    return {name: {"all": f"left out: {why}"} for name, why in told.items()}


def _reasons(reasons: dict[str, dict[str, str]]) -> Iterator[str]:
    """Say each reason for an undefined value once, with the measures and systems that it is about."""
    about: dict[str, list[str]] = {}
    for system, of_measure in reasons.items():
        for measure, why in of_measure.items():
            about.setdefault(why, []).append(f"{measure} of {system}")
    for why, values in about.items():
        more = f" and {len(values) - 3:,} more" if len(values) > 3 else ""
        yield f"Undefined, since {why}: {', '.join(values[:3])}{more}."
