"""Measures of the whole judged pool, estimated from a random sample of its labels."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand

from core.management.shell import user_errors
from evaluation.estimates.estimate import TEXTS, Estimated, beyond, estimate
from evaluation.estimates.kernels.jackknife import Estimate
from evaluation.estimates.kernels.quantities import COUNTS, LISTS, MEASURED
from evaluation.sections.section import number
from pooling.pools.build import get_pool


class Command(BaseCommand):
    help = "Estimate measures of a pool of which a random sample is judged: value and 95 % interval."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument(
            "--questions",
            choices=["grown", "original"],
            default="grown",
            help="every question that would have an answer, or of these only the questions of the seeds",
        )
        parser.add_argument(
            "--assumed",
            choices=["judged", "unjudged"],
            default="judged",
            help="whether filtered triples count as judged negatives; plain infAP alone looks at it",
        )
        parser.add_argument("--seed", type=int, default=7, help="of the groups that the intervals leave out")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            found = estimate(
                get_pool(options["pool"]),
                questions=options["questions"],
                seed=options["seed"],
                assumed_is_judged=options["assumed"] == "judged",
            )
        if found.left_out:
            self.stderr.write(
                f"Left out, rank rows missing: {', '.join(found.left_out)}; run score_runs {options['pool']}."
            )
        if options["json"]:
            self.stdout.write(json.dumps(as_json(found)))
            return
        for one in found.drawn.strata:
            self.stdout.write(
                f"{one.name}: {one.judged:,} of {one.triples:,} triples drawn and judged, {one.positive:,} positive"
            )
        for note in filter(None, [*found.drawn.notes, found.drawn.narrow]):
            self.stdout.write(note)
        for count in COUNTS:
            text = f"{count.label}: {_text(found.unbiased[count.name], 0, 0)}"
            if count.name in found.modelled:
                text += f"; model-assisted {_text(found.modelled[count.name], 0, 0)}"
            self.stdout.write(text)
        self._table("unbiased", found, found.unbiased, MEASURED)
        self._table("model-assisted", found, found.modelled, MEASURED, "modelled")
        self._table("lists", found, found.unbiased, [one.name for one in LISTS])

    def _table(
        self, title: str, found: Estimated, estimates: Mapping[str, Estimate], names: Any, text: str = ""
    ) -> None:
        self.stdout.write(f"{title.capitalize()}. {TEXTS[text or title]}")
        if note := beyond(estimates, names):
            self.stdout.write(note)
        width = max(len(name) for name in [*found.systems, "system"])
        for name in names:
            self.stdout.write(f"{name}, {title}:")
            for i, system in enumerate(found.systems):
                self.stdout.write(f"  {system:{width}}  {_text(estimates[name], i, 4)}")


def as_json(found: Estimated) -> dict[str, Any]:
    """{order, strata, …, counts, questions_modelled, systems: {name: {unbiased: {measure: …}, modelled, infap}}}."""
    lists = [one.name for one in LISTS]
    systems: dict[str, dict[str, Any]] = {
        system: {
            "unbiased": {name: _interval(found.unbiased[name], i) for name in (*MEASURED, *lists)},
            "modelled": {name: _interval(found.modelled[name], i) for name in MEASURED},
            "infap": None if found.plain is None else number(found.plain[i]),
        }
        for i, system in enumerate(found.systems)
    }
    return {
        "order": found.drawn.order,
        "strata": [one._asdict() for one in found.drawn.strata],
        "notes": found.drawn.notes,
        "narrow": found.drawn.narrow,
        "texts": TEXTS,
        "waiting": found.drawn.waiting,
        "behind": found.drawn.behind,
        "aside": found.drawn.aside,
        "counts": {count.name: _interval(found.unbiased[count.name], 0) for count in COUNTS},
        "questions_modelled": _interval(found.modelled["questions"], 0),
        "systems": systems,
    }


def _interval(found: Estimate, i: int) -> dict[str, float | None]:
    return {"value": number(found.value[i]), "low": number(found.low[i]), "high": number(found.high[i])}


def _text(found: Estimate, i: int, digits: int) -> str:
    value, low, high = (number(part[i]) for part in found)
    if value is None:
        return "undefined"
    if low is None or high is None:
        return f"{value:.{digits}f} (interval unknown: one triple of a stratum is judged)"
    return f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
