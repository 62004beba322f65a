"""Import a model that another program trained."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from core.callbacks import Watch
from core.management.shell import ShellCommand, Ticker
from pooling.graphs.opening import get_graph
from pooling.training.import_model import import_model
from pooling.training.outside.registry import FORMS, read_model
from pooling.training.outside.vectors import SCORES


class Command(ShellCommand):
    help = (
        "Import a model that PyKEEN, LibKGE or another program trained on the graph, as a trained system that is "
        "ranked like those trained here. No code of its files is run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("graph", help="graph that the model was trained on, with the same keys")
        parser.add_argument("folder", type=Path, help="folder of the model's files (docs/systems.md)")
        parser.add_argument("--form", required=True, metavar="FORM", help=f"who wrote them: {', '.join(FORMS)}")
        parser.add_argument("--system", required=True, metavar="NAME", help="name of the new system")
        parser.add_argument(
            "--score", default="", metavar="NAME", help=f"of vectors: their scoring function: {', '.join(SCORES)}"
        )
        parser.add_argument(
            "--halves", action="store_true", help="of vectors: complex ones have all real parts first, not pairs"
        )

    def handle(self, *args: Any, **options: Any) -> str:
        graph, ticker = get_graph(options["graph"]), Ticker(self.stderr)
        model = read_model(options["folder"], options["form"], options["score"], options["halves"])
        watch = Watch(lambda done, total: ticker("ranking validation triples", done, total))
        system = import_model(graph, model, name=options["system"], watch=watch)
        mrr = (
            "no validation triples" if system.validation_mrr is None else f"validation MRR {system.validation_mrr:.4f}"
        )
        return f"{system}: {model.words}, {graph.num_entities:,} entities, {mrr}"
