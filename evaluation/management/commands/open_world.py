"""Say what the open-world theory expects of a model of known strength, or of the systems of a judged pool."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from core.management.shell import ShellCommand, also_called
from evaluation.management.options import add_labels, add_systems, table_text
from evaluation.open_world.sections import open_world
from evaluation.open_world.theory_page import sections_of
from evaluation.open_world.theory_settings import METRICS, SLIDERS, TheorySettings, parse_theory
from evaluation.sections.compared import compared_notes, compared_of
from evaluation.sections.section import Context, Section
from evaluation.sections.settings import parse_settings
from pooling.pools.build import get_pool

TAKEN = ("labels", "systems")  # of a pool
SHORT = ("numbers", "inconsistency", "required")  # the tables that are printed without a pool; --json has all


class Command(ShellCommand):
    help = "Print what the open-world theory predicts, for given settings or for the systems of a judged pool."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pool", help="a judged pool: print β by relation, and reported beside expected values")
        add_labels(parser, "label set, with --pool")
        add_systems(parser)
        usual = TheorySettings()
        for slider in SLIDERS:
            default = getattr(usual, slider.name)
            text = f"{slider.text[0].lower()}{slider.text[1:]} ({slider.symbol}; default {default:g})"
            if slider.name == "questions":  # in evaluate and others the word chooses a set of questions
                number = parser.add_argument("--num-questions", dest="questions", metavar="N", help=text)
                also_called(parser, number, "--questions")
            else:
                parser.add_argument(f"--{slider.name}", help=text)
        parser.add_argument("--metric", choices=list(METRICS), help="metric to compute from a ranking")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> str:
        given = {name: options[name] for name in (*(s.name for s in SLIDERS), "metric") if options[name] is not None}
        if options["pool"] is None:
            if options["labels"] != "current":
                raise CommandError("--labels is of a pool: name it with --pool.")
            if options["systems"]:
                raise CommandError("--systems is of a pool: name it with --pool.")
            sections = sections_of(parse_theory(given))
        else:
            if given:
                raise CommandError(f"--{next(iter(given))} is not of a pool: leave it out, or --pool.")
            context = Context(get_pool(options["pool"]), parse_settings({key: options[key] for key in TAKEN}, TAKEN))
            sections = open_world(context)
            self.warn(compared_notes(compared_of(context)))
            if not sections[0].tables:
                raise CommandError(sections[0].text)
        if options["json"]:
            return json.dumps([section.content() for section in sections], allow_nan=False)
        printed = [section for section in sections if options["pool"] or section.key in SHORT]
        return "\n".join(line for section in printed for line in _lines(section))


def _lines(section: Section) -> Iterator[str]:
    yield f"\n{section.title}"
    yield from filter(None, [section.finding, section.caption])
    yield from map(table_text, section.tables)
