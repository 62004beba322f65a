"""Export the whole run of a system."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from pooling.artifacts import writing
from pooling.domain.graph import get_graph
from pooling.domain.run_export import get_run, whole_run
from pooling.domain.trec import packed
from pooling.management.shell import user_errors


class Command(BaseCommand):
    help = (
        "Write a run as TREC lines `question-id Q0 entity rank score tag`, score = -rank; gzip if FILE ends in .gz. "
        "Answers in train and valid are not in it, test answers are. import_run reads it back."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("graph")
        parser.add_argument("system")
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        file = options["file"]
        with user_errors():
            run = get_run(get_graph(options["graph"]), options["system"])
            content = whole_run(run)
            with writing(file) as aside, aside.open("wb") as out:
                out.writelines(packed(content) if file.suffix == ".gz" else content)
        self.stdout.write(f"{file}: the run of {run.system.name}, {file.stat().st_size:,} bytes")
