"""Import a run made elsewhere."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from core.callbacks import Watch
from core.management.shell import ShellCommand, Ticker
from pooling.graphs.opening import get_graph
from pooling.pools.build import get_pool
from pooling.runs.adapters.registry import ADAPTERS, AUTO
from pooling.runs.export import get_run
from pooling.runs.imports import NOT_KNOWN, import_run
from pooling.runs.ownership import check_changeable
from pooling.runs.scorer_imports import import_scorer
from pooling.runs.scorers import GROUP
from pooling.systems.spec import FAMILIES


class Command(ShellCommand):
    help = (
        "Import a run as a system without a model: TREC lines `question-id Q0 entity rank score tag`, plain or .gz, "
        "or another form of docs/pooling.md. Use the question ids that export_topics and export_trec write. The score "
        "decides the order; the rank is only compared."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("graph", help="graph whose questions the run answers")
        parser.add_argument(
            "file", type=Path, nargs="?", help="the run: a file, or for some forms a folder or zip archive"
        )
        parser.add_argument(
            "--scorer",
            metavar="NAME",
            help="instead of FILE: rank all entities with a Python function that an installed package registers in the "
            f"group {GROUP}",
        )
        parser.add_argument(
            "--replace", action="store_true", help="replace the imported run of this name, which must exist"
        )
        parser.add_argument(
            "--form",
            default=AUTO,
            metavar="FORM",
            help=f"form of the run: {', '.join(ADAPTERS)}; default: recognised from the file",
        )
        parser.add_argument(
            "--scores-decide",
            action="store_true",
            help="import the run even if most of its ranks contradict its scores",
        )
        parser.add_argument("--system", required=True, metavar="NAME", help="name of the new system")
        parser.add_argument(
            "--family", default=NOT_KNOWN, help=f"family of the system: {', '.join(FAMILIES)} or '{NOT_KNOWN}'"
        )
        parser.add_argument(
            "--pool", help="pool whose questions the run was asked; those that FILE lacks count as not returned"
        )
        topics = "questions that the run was asked, as export_topics writes them; default: those of --pool, or of FILE"
        parser.add_argument("--topics", type=Path, metavar="FILE", help=topics)

    def handle(self, *args: Any, **options: Any) -> str:
        pool = get_pool(options["pool"]) if options["pool"] else None
        graph, name, family = get_graph(options["graph"]), options["system"], options["family"]
        ticker = Ticker(self.stderr)
        if bool(options["file"]) == bool(options["scorer"]):
            raise CommandError("Give the file of a run, or --scorer, and not both.")
        if options["scorer"]:
            watch = Watch(lambda done, total: ticker(f"scoring with {options['scorer']}", done, total))
            made = import_scorer(graph, options["scorer"], name=name, family=family, pool=pool, watch=watch)
            return f"{made}: {made.run.num_questions:,} questions, {made.run.num_rank_rows:,} rank rows"
        given = {"pool": pool, "topics_file": options["topics"], "progress": ticker}
        given |= {key: options[key] for key in ("form", "scores_decide")}
        if options["replace"]:
            given["replaces"] = run = get_run(graph, name, private=True).system
            check_changeable(run, None, "replaced")
        imported = import_run(graph, options["file"], name=name, family=family, **given)
        return f"{imported.system}: {' '.join(imported.notes)}"
