"""Estimate measures of the whole judged pool from a random sample of its labels."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.management.shell import names_in
from evaluation.estimates.estimate import TEXTS, Estimated, beyond, estimate
from evaluation.estimates.kernels.intervals import Estimate
from evaluation.estimates.kernels.quantities import COUNTS, LISTS, MEASURED, MODELLED, NO_INTERVAL
from evaluation.management.options import add_assumed, add_questions, add_systems
from evaluation.sections.section import number
from pooling.management.pool_command import Options, PoolCommand
from pooling.models import Pool

NAMED_LISTS = [one.name for one in LISTS]


class Command(PoolCommand):
    help = "Estimate the measures of a pool from a random sample of judged triples, most of them with a 95 % interval."

    def add_options(self, parser: ArgumentParser) -> None:
        add_questions(
            parser,
            "grown: every question that would have an answer; original: only the questions of the seeds among them",
        )
        add_assumed(parser, "whether filtered triples count as judged negatives; only infAP uses this")
        parser.add_argument("--seed", type=int, default=7, help="seed of the labels that the model imputes")
        add_systems(parser)

    def find(self, pool: Pool, options: Options) -> Estimated:
        judged = options["assumed"] == "judged"
        chosen = {"questions": options["questions"], "systems": names_in(options["systems"])}
        found = estimate(pool, **chosen, seed=options["seed"], assumed_is_judged=judged)
        self.warn_left_out(found.left_out, pool)
        return found

    def content(self, found: Estimated) -> dict[str, Any]:
        """Return {order, strata, …, counts, systems: {name: {unbiased: {measure: …}, modelled, infap}}}."""
        systems: dict[str, dict[str, Any]] = {
            system: {
                "unbiased": {
                    name: _interval(found.unbiased[name], i, _why(name)) for name in (*MEASURED, *NAMED_LISTS)
                },
                "modelled": {name: _interval(found.modelled[name], i) for name in (*MEASURED, *MODELLED)},
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
            "counts": {count.name: _interval(found.unbiased[count.name], 0, _why(count.name)) for count in COUNTS},
            "counts_modelled": {
                count.name: _interval(found.modelled[count.name], 0, NO_INTERVAL["questions"]) for count in COUNTS
            },
            "infap_no_interval": NO_INTERVAL["lists"],
            "systems": systems,
        }

    def lines(self, found: Estimated, options: Options) -> Iterator[str]:
        for one in found.drawn.strata:
            yield f"{one.name}: {one.judged:,} of {one.triples:,} triples drawn and judged, {one.positive:,} positive"
        yield from filter(None, [*found.drawn.notes, found.drawn.narrow])
        for count in COUNTS:
            modelled = _text(found.modelled[count.name], 0, 0)
            yield f"{count.label}: {_text(found.unbiased[count.name], 0, 0)}; by the model {modelled}"
        for key, title, estimates, names in (
            ("unbiased", "unbiased", found.unbiased, MEASURED),
            ("modelled", "by the model", found.modelled, (*MEASURED, *MODELLED)),
            ("lists", "lists", found.unbiased, NAMED_LISTS),
        ):
            without = f" No interval: {NO_INTERVAL[key]}" if key in NO_INTERVAL else ""
            yield from _table(title, f"{TEXTS[key]}{without}", found.systems, estimates, names)


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


def _why(name: str) -> str:
    """Return why an unbiased estimate has no interval."""
    return NO_INTERVAL["lists" if name in NAMED_LISTS else "unbiased"]


def _interval(found: Estimate, i: int, why: str = "") -> dict[str, float | str | None]:
    """Return value and interval, or the value and why there is no interval."""
    value, low, high = (number(part[i]) for part in found)
    ends: dict[str, float | str | None] = {"value": value, "low": low, "high": high}
    return ends | {"no_interval": why} if why and low is None else ends


def _text(found: Estimate, i: int, digits: int) -> str:
    value, low, high = (number(part[i]) for part in found)
    if value is None:
        return "undefined"
    if low is None or high is None:
        return f"{value:.{digits}f} (no interval)"
    return f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
