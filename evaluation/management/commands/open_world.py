"""What the open-world theory expects of a model of known strength, or of the systems of a judged pool."""

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.management.shell import user_errors
from evaluation.open_world.page import sections_of
from evaluation.open_world.sections import open_world
from evaluation.open_world.world_settings import LABELS, SLIDERS, WorldSettings, parse_world
from evaluation.sections.section import Context, Section
from evaluation.sections.settings import parse_settings
from evaluation.templatetags.analysis_tabs import written
from pooling.pools.build import get_pool

SHORT = ("numbers", "inconsistency", "required")  # the tables that are printed; --json has all


class Command(BaseCommand):
    help = "Print what the open-world theory expects, for given settings or for the systems of a judged pool."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pool", help="a judged pool: β by relation, and reported beside expected values")
        parser.add_argument("--labels", default="current", help="with --pool: the label set")
        usual = WorldSettings()
        for slider in SLIDERS:
            default = getattr(usual, slider.name)
            parser.add_argument(f"--{slider.name}", help=f"{slider.text} ({slider.symbol}); {default:g}")
        parser.add_argument("--metric", choices=list(LABELS))
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        given = {name: options[name] for name in (*(s.name for s in SLIDERS), "metric") if options[name] is not None}
        shown: tuple[str, ...] = SHORT
        with user_errors():
            if options["pool"] is None:
                if options["labels"] != "current":
                    raise CommandError("--labels is of a pool: name it with --pool.")
                settings = parse_world(given)
                sections = sections_of(settings)
            else:
                if given:
                    raise CommandError(f"--{next(iter(given))} is not of a pool: leave it out, or --pool.")
                chosen = parse_settings({"labels": options["labels"]}, ("labels",))
                sections = open_world(Context(get_pool(options["pool"]), chosen))
                if not sections[0].tables:
                    raise CommandError(sections[0].text)
                shown = tuple(section.key for section in sections)
        if options["json"]:
            self.stdout.write(json.dumps([section.content() for section in sections], allow_nan=False))
            return
        for section in sections:
            if section.key in shown:
                self._write(section)

    def _write(self, section: Section) -> None:
        self.stdout.write(f"\n{section.title}")
        for text in (section.finding, section.caption):
            if text:
                self.stdout.write(text)
        for table in section.tables:
            rows = [[column.label for column in table.columns]]
            rows += [
                [written(value, column.kind) for value, column in zip(row, table.columns, strict=True)]
                for row in table.rows
            ]
            for line in aligned(rows):
                self.stdout.write(line)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
