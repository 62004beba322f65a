"""Train systems on family trees with missing facts, and compare what sparse and full test sets say of them."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from core.management.shell import ShellCommand, Ticker, add_set, also_called, key_values, names_in, run_jobs
from evaluation.management.options import table_text
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
from evaluation.open_world.study_curves import DIVISIONS, StudyView, chooser_of
from evaluation.open_world.study_sections import study_sections

NOTHING = "no question has an answer in the test set, so there is nothing to compare. Ask for more families or people."


class Command(ShellCommand):
    help = "Run an open-world study, or continue an interrupted one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        full = StudyOptions()
        parser.add_argument("graph", help="name of the study; its graphs get names such as GRAPH-d95")
        parser.add_argument(
            "--small", action="store_true", help="use two families and four systems; takes minutes on two cores"
        )
        known = f"shares of known facts (default {' '.join(f'{d:g}' for d in full.densities)})"
        parser.add_argument("--density", nargs="+", type=float, metavar="D", help=known)
        parser.add_argument("--systems", help=f"comma-separated (default {','.join(full.systems)})")
        add_set(parser, "settings of the systems")
        parser.add_argument("--families", type=int, help=f"number of families (default {full.families})")
        parser.add_argument("--people", type=int, help=f"largest number of people in a family (default {full.people})")
        many = f"number of questions (default {full.questions})"
        number = parser.add_argument("--num-questions", dest="questions", metavar="N", type=int, help=many)
        also_called(parser, number, "--questions")
        parser.add_argument(
            "--checkpoints", type=int, help=f"number of checkpoints of each system (default {full.checkpoints})"
        )
        parser.add_argument("--seed", type=int, help=f"seed of all random choices (default {full.seed})")
        parser.add_argument("--device", choices=["auto", "cpu", "cuda"])
        parser.add_argument("--chooser", default="", help="system whose predictions divide the unknown answers")
        parser.add_argument("--json", action="store_true", help="print all densities and divisions as JSON")

    def handle(self, *args: Any, **options: Any) -> str:
        study = _study(options["graph"], options)
        prepare_study(study, Ticker(self.stderr))
        run_jobs(start_study(study), self.stderr)
        chooser = chooser_of(study, options["chooser"])
        if options["json"]:
            return _json(study, chooser)
        return "\n".join(_lines(study, chooser)) or f"{study.name}: {NOTHING}"


def _study(name: str, options: dict[str, Any]) -> Study:
    """Return the study of this name, made where there is none."""
    study = Study.objects.filter(name=name).first()
    base = options_of(study) if study else SMALL if options["small"] else StudyOptions()
    given = _given(options, base)
    if study is None:
        return create_study(name, replace(base, **given))
    change_asked(study, given)
    return study


def _given(options: dict[str, Any], base: StudyOptions) -> dict[str, Any]:
    """Return the fields of StudyOptions that were typed; settings are put into those of `base`."""
    keys = ("families", "people", "questions", "checkpoints", "seed", "device")
    given = {key: options[key] for key in keys if options[key] is not None}
    if options["density"]:
        given["densities"] = tuple(options["density"])
    if options["systems"]:
        given["systems"] = tuple(names_in(options["systems"]))
    if options["set"]:
        given["settings"] = {**base.settings, **key_values(options["set"])}
    return given


def _json(study: Study, chooser: str) -> str:
    asked = options_of(study)
    views = [StudyView(density, division, chooser) for density in asked.densities for division in DIVISIONS]
    shown = [{**asdict(view), "sections": [s.content() for s in study_sections(study, view)]} for view in views]
    content = {"study": study.name, "options": asked.to_json(), "views": shown}
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def _lines(study: Study, chooser: str) -> Iterator[str]:
    keys = {"rests-on", "summary", "divisions"}
    for density in options_of(study).densities:
        for section in study_sections(study, StudyView(density, "independent", chooser)):
            if section.key in keys:
                yield f"\n{section.title}. {section.caption}\n{table_text(section.tables[0], '<')}"
        keys = {"divisions"}  # the others are the same for every density
