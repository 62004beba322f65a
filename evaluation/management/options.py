"""Options and printed tables that commands of evaluation share."""

from argparse import ArgumentParser

from core.management.shell import also_called
from evaluation.labels.label_sets import HELP
from evaluation.sections.cell_text import cell_text
from evaluation.sections.section import Table
from evaluation.sections.settings import ASSUMED, QUESTION_SETS, SEEDS


def add_labels(parser: ArgumentParser, text: str = HELP) -> None:
    parser.add_argument("--labels", default="current", help=text)


def add_questions(parser: ArgumentParser, text: str) -> None:
    parser.add_argument("--questions", choices=QUESTION_SETS, default="grown", help=text)


def add_assumed(parser: ArgumentParser, text: str) -> None:
    parser.add_argument("--assumed", choices=ASSUMED, default="judged", help=text)


def add_seeds(parser: ArgumentParser) -> None:
    each = "each: every seed is a system; families: one system per family of seeds, with mean and standard deviation"
    seeds = parser.add_argument("--training-seeds", dest="seeds", choices=SEEDS, default="each", help=each)
    also_called(parser, seeds, "--seeds")


def add_systems(parser: ArgumentParser) -> None:
    every = "all that were asked at least half of the questions"
    parser.add_argument(
        "--systems", default="", help=f"names of the systems to compare, comma-separated; default: {every}"
    )


def table_text(table: Table, numbers: str = ">") -> str:
    """Print a section's table in columns: the first to the left, the others adjusted as `numbers` says (< or >)."""
    rows = [[column.label for column in table.columns]]
    rows += [
        [cell_text(value, column.kind) for value, column in zip(row, table.columns, strict=True)] for row in table.rows
    ]
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    formats = [f"<{first}", *(f"{numbers}{width}" for width in others)]
    return "\n".join("  ".join(map(format, row, formats)).rstrip() for row in rows)
