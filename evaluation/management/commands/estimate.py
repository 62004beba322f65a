"""Estimate measures of the whole judged pool from a random sample of its labels."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.estimates.estimate import TEXTS, Estimated, beyond, estimate
from evaluation.estimates.kernels.jackknife import Estimate
from evaluation.estimates.kernels.quantities import COUNTS, LISTS, MEASURED
from evaluation.management.options import add_assumed, add_questions
from evaluation.sections.section import number
from pooling.management.pool_command import Options, PoolCommand
from pooling.models import Pool

NAMED_LISTS = [one.name for one in LISTS]


class Command(PoolCommand):
    help = "Estimate measures of a pool of which a random sample is judged: value and 95 % interval."

    def add_options(self, parser: ArgumentParser) -> None:
        add_questions(parser, "every question that would have an answer, or of these only the questions of the seeds")
        add_assumed(parser, "whether filtered triples count as judged negatives; plain infAP alone looks at it")
        parser.add_argument("--seed", type=int, default=7, help="of the groups that the intervals leave out")

    def find(self, pool: Pool, options: Options) -> Estimated:
        judged = options["assumed"] == "judged"
        found = estimate(pool, questions=options["questions"], seed=options["seed"], assumed_is_judged=judged)
        self.warn_left_out(found.left_out, pool)
        return found

    def content(self, found: Estimated) -> dict[str, Any]:
        """Return {order, strata, …, counts, systems: {name: {unbiased: {measure: …}, modelled, infap}}}."""
        systems: dict[str, dict[str, Any]] = {
            system: {
                "unbiased": {name: _interval(found.unbiased[name], i) for name in (*MEASURED, *NAMED_LISTS)},
                "modelled": {name: _interval(found.modelled[name], i) for name in MEASURED},
                "infap": None if found.plain is None else number(found.plain[i]),
            }
            for i, system in enumerate(found.systems)
        }
        drawn = found.drawn
        return {
            "order": drawn.order,
            "strata": [one._asdict() for one in drawn.strata],
            **{name: getattr(drawn, name) for name in ("notes", "narrow")},
            "texts": TEXTS,
            **{name: getattr(drawn, name) for name in ("waiting", "behind", "aside")},
            "counts": {count.name: _interval(found.unbiased[count.name], 0) for count in COUNTS},
            "questions_modelled": _interval(found.modelled["questions"], 0),
            "systems": systems,
        }

    def lines(self, found: Estimated, options: Options) -> Iterator[str]:
        for one in found.drawn.strata:
            yield f"{one.name}: {one.judged:,} of {one.triples:,} triples drawn and judged, {one.positive:,} positive"
        yield from filter(None, [*found.drawn.notes, found.drawn.narrow])
        for count in COUNTS:
            modelled = found.modelled.get(count.name)
            assisted = f"; model-assisted {_text(modelled, 0, 0)}" if modelled is not None else ""
            yield f"{count.label}: {_text(found.unbiased[count.name], 0, 0)}{assisted}"
        yield from _table("unbiased", TEXTS["unbiased"], found.systems, found.unbiased, MEASURED)
        yield from _table("model-assisted", TEXTS["modelled"], found.systems, found.modelled, MEASURED)
        yield from _table("lists", TEXTS["lists"], found.systems, found.unbiased, NAMED_LISTS)


def _table(
    title: str, text: str, systems: Sequence[str], estimates: Mapping[str, Estimate], names: Sequence[str]
) -> Iterator[str]:
    yield f"{title.capitalize()}. {text}"
    if note := beyond(estimates, names):
        yield note
    width = max(map(len, [*systems, "system"]))
    for name in names:
        yield f"{name}, {title}:"
        yield from (f"  {system:{width}}  {_text(estimates[name], i, 4)}" for i, system in enumerate(systems))


def _interval(found: Estimate, i: int) -> dict[str, float | None]:
    return {"value": number(found.value[i]), "low": number(found.low[i]), "high": number(found.high[i])}


def _text(found: Estimate, i: int, digits: int) -> str:
    value, low, high = (number(part[i]) for part in found)
    if value is None:
        return "undefined"
    if low is None or high is None:
        return f"{value:.{digits}f} (interval unknown: one triple of a stratum is judged)"
    return f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
