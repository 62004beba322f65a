"""Import judgements made elsewhere as a label set of a pool."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from core.management.shell import ShellCommand, file_bytes
from evaluation.labels.import_qrels import BOUNDS, FORMATS, THRESHOLDS, import_qrels
from pooling.pools.build import get_pool


class Command(ShellCommand):
    help = (
        "Import qrels: TSV head, relation, tail, label (1, 0, -1, Y, N, ? or a state in words), or TREC qrels of the "
        "questions that export_topics writes; plain or .gz. If a line is wrong, nothing is imported."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("name", help="name of the new qrels; it cannot be used again")
        parser.add_argument("file", type=Path, help="file of judgements; see docs/formats.md")
        parser.add_argument("--format", choices=list(FORMATS), default="tsv")
        graded = "read the labels as grades from 0 to 3 (-1: unjudged); this grade and higher ones are positive"
        parser.add_argument("--threshold", type=int, choices=THRESHOLDS, help=graded)

    def handle(self, *args: Any, **options: Any) -> str:
        file = options["file"]
        raw = file_bytes(file, BOUNDS.bytes)
        asked = {name: options[name] for name in ("format", "threshold")}
        qrels = import_qrels(get_pool(options["pool"]), options["name"], raw, file.name, **asked)
        counts = f"{qrels}: {qrels.counts_in_words}; SHA-256 {qrels.sha256}"
        return "\n".join([counts, *qrels.notes, f"Evaluate with --labels imported:{qrels.name}"])
