"""Train systems on family trees with missing facts, and compare what sparse and full test sets say of them."""

import json
from argparse import ArgumentParser
from dataclasses import asdict, replace
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.management.shell import Ticker, run_jobs, user_errors
from evaluation.models import Study
from evaluation.open_world.study import (
    SMALL,
    StudyOptions,
    change_asked,
    create_study,
    options_of,
    prepare_study,
    start_study,
)
from evaluation.open_world.study_curves import DIVISIONS, View, chooser_of
from evaluation.open_world.study_sections import study_sections
from evaluation.sections.section import Table
from evaluation.templatetags.analysis_tabs import written


class Command(BaseCommand):
    help = "An open-world study: made, or gone on with where it was interrupted."

    def add_arguments(self, parser: ArgumentParser) -> None:
        full = StudyOptions()
        parser.add_argument("graph", help="name of the study; its graphs are called GRAPH-d95 and so on")
        parser.add_argument("--small", action="store_true", help="two families and four systems: minutes on two cores")
        parser.add_argument(
            "--density",
            nargs="+",
            type=float,
            metavar="D",
            help=f"shares of the facts that are known (default {' '.join(f'{d:g}' for d in full.densities)})",
        )
        parser.add_argument("--systems", help=f"comma-separated (default {','.join(full.systems)})")
        parser.add_argument(
            "--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="settings of the systems"
        )
        parser.add_argument("--families", type=int, help=f"number of families (default {full.families})")
        parser.add_argument("--people", type=int, help=f"most people of one family (default {full.people})")
        parser.add_argument("--questions", type=int, help=f"questions (default {full.questions})")
        parser.add_argument("--checkpoints", type=int, help=f"of each system (default {full.checkpoints})")
        parser.add_argument("--seed", type=int, help=f"seed of everything drawn (default {full.seed})")
        parser.add_argument("--device", choices=["auto", "cpu", "cuda"])
        parser.add_argument("--chooser", default="", help="the system whose predictions divide the open answers")
        parser.add_argument("--json", action="store_true", help="print all densities and divisions as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            study = self._study(options)
            prepare_study(study, Ticker(self.stderr))  # type: ignore[arg-type]
            run_jobs(start_study(study), self.stderr)  # type: ignore[arg-type]
            self._print(study, options)

    def _study(self, options: dict[str, Any]) -> Study:
        """The study of this name, made where there is none."""
        study = Study.objects.filter(name=options["graph"]).first()
        base = options_of(study) if study else SMALL if options["small"] else StudyOptions()
        given = _given(options, base)
        if study is None:
            return create_study(options["graph"], replace(base, **given))
        change_asked(study, given)
        return study

    def _print(self, study: Study, options: dict[str, Any]) -> None:
        chooser = chooser_of(study, options["chooser"])
        views = [View(d, division, chooser) for d in options_of(study).densities for division in DIVISIONS]
        if options["json"]:
            shown = [{**asdict(view), "sections": [s.content() for s in study_sections(study, view)]} for view in views]
            content = {"study": study.name, "options": options_of(study).to_json(), "views": shown}
            self.stdout.write(json.dumps(content, ensure_ascii=False, allow_nan=False))
            return
        independent = [view for view in views if view.division == "independent"]
        for i, view in enumerate(independent):
            wanted = ("rests-on", "summary", "divisions") if i == 0 else ("divisions",)
            for section in study_sections(study, view):
                if section.key in wanted:
                    self.stdout.write(f"\n{section.title}. {section.caption}\n{_text(section.tables[0])}")


def _given(options: dict[str, Any], base: StudyOptions) -> dict[str, Any]:
    """Fields of StudyOptions that were typed; settings are put into those of `base`."""
    keys = ("families", "people", "questions", "checkpoints", "seed", "device")
    given = {key: options[key] for key in keys if options[key] is not None}
    if options["density"]:
        given["densities"] = tuple(options["density"])
    if options["systems"]:
        given["systems"] = tuple(name.strip() for name in options["systems"].split(",") if name.strip())
    pairs = [pair.partition("=") for pair in options["set"]]
    if bad := [key for key, equals, _ in pairs if not equals]:
        raise CommandError(f"--set {bad[0]}: write KEY=VALUE")
    if pairs:
        given["settings"] = {**base.settings, **{key: value for key, _, value in pairs}}
    return given


def _text(table: Table) -> str:
    """A table in columns."""
    lines = [[column.label for column in table.columns]]
    lines += [
        [written(value, column.kind) for value, column in zip(row, table.columns, strict=True)] for row in table.rows
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
