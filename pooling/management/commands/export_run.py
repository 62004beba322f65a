"""Export the whole run of a system."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from core.files.artifacts import writing
from core.management.shell import ShellCommand
from pooling.graphs.opening import get_graph
from pooling.runs.export import get_run, whole_run, write_parquet
from pooling.runs.trec_write import packed


class Command(ShellCommand):
    help = (
        "Export a run as TREC lines `question-id Q0 entity rank score tag`, with score = -rank. A FILE ending in .gz "
        "is compressed; a FILE ending in .parquet is Parquet. Answers in train and valid are left out; test answers "
        "are included. import_run reads the file back."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("graph", help="graph of the system")
        parser.add_argument("system", help="system whose run is exported")
        parser.add_argument("file", type=Path, help="file to write: .txt, .gz or .parquet")

    def handle(self, *args: Any, **options: Any) -> str:
        file = options["file"]
        run = get_run(get_graph(options["graph"]), options["system"])
        if file.suffix == ".parquet":
            write_parquet(run, file)
        else:
            content = whole_run(run)
            with writing(file) as aside, aside.open("wb") as out:
                out.writelines(packed(content) if file.suffix == ".gz" else content)
        return f"{file}: the run of {run.system.name}, {file.stat().st_size:,} bytes"
