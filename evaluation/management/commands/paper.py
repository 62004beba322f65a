"""Print the tables of a paper, computed from a pool, with the published figures beside them."""

from argparse import ArgumentParser
from collections.abc import Iterator
from functools import partial
from typing import Any

from core.management.shell import ShellCommand, Ticker, names_in
from evaluation.management.options import add_systems
from evaluation.pages.registry import PAPERS, get_analysis
from evaluation.sections.cell_text import cell_text
from evaluation.sections.compared import compared_notes, compared_of
from evaluation.sections.section import Section, Table
from evaluation.sections.seed_notes import seed_notes
from evaluation.sections.settings import Settings
from pooling.pools.build import get_pool


class Command(ShellCommand):
    help = "Print the tables of a paper, computed from a pool, with the published figures beside them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "paper",
            choices=[one.key.removeprefix("paper-") for one in PAPERS],
            help="number of the paper; see docs/reproduction.md",
        )
        parser.add_argument("pool")
        add_systems(parser)
        parser.add_argument("--quick", action="store_true", help="skip the parts that take minutes")

    def handle(self, *args: Any, **options: Any) -> str:
        paper, pool, ticker = get_analysis(f"paper-{options['paper']}"), get_pool(options["pool"]), Ticker(self.stderr)
        found, chosen = [paper.title, paper.lead], Settings(systems=tuple(names_in(options["systems"])))
        for part in paper.parts:
            if part.heavy and options["quick"]:
                continue
            context = paper.context(pool, chosen, partial(ticker, part.title or part.key))
            if part is paper.parts[0]:
                found += compared_notes(compared_of(context))
                found += seed_notes(context, asked=False)
            found += [line for section in part.compute(context) for line in _lines(section)]
        return "\n".join(found)


def _lines(section: Section) -> Iterator[str]:
    yield from ("", section.title, section.text, section.caption)
    for table in section.tables:
        if not table.in_files:
            yield from ("", table.title, *_table(table))
    if section.finding:
        yield from ("", section.finding)
    yield from section.notes


def _table(table: Table) -> Iterator[str]:
    kinds = [column.kind for column in table.columns]
    rows = [[column.label for column in table.columns]]
    rows += [[cell_text(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in table.rows]
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    for name, *cells in rows:
        yield "  ".join([name.ljust(first), *map(str.rjust, cells, others)])
