"""Say which systems a page compares on which questions, and what is left out since a run was not asked it."""

from collections.abc import Iterator
from typing import TypedDict

from evaluation.labels.label_sets import LabelSet
from evaluation.labels.pool_table import PoolTable
from evaluation.measures.label_state import positive
from evaluation.sections.section import Context
from pooling.systems.shown_names import shown_name

NAMED = 5  # systems in a sentence


class Compared(TypedDict):
    """Hold how many questions are compared `of` how many that the labels ask, and who lacks the others.

    lacking: {system: questions that it was not asked} of the compared systems; dropped: the same of systems left out
    since they were asked too few; unasked: systems that were asked none.
    """

    systems: list[str]
    questions: int
    of: int
    lacking: dict[str, int]
    dropped: dict[str, int]
    unasked: list[str]


def compared(table: PoolTable, labels: LabelSet) -> Compared:
    """Return what the figures of a label set are compared on; `table` is a view, from PoolTable.compared."""
    whole = table.whole or table
    every = whole.questions_of(positive(labels.state))
    if labels.asked is not None:
        every &= labels.asked
    kept = table.questions_of(positive(labels.state)) & every
    asked = dict(zip(whole.systems, whole.asked, strict=True))
    lacks = {name: int((every & ~of).sum()) for name, of in asked.items()}
    shown = table.members or table.systems
    return {
        "systems": table.systems,
        "questions": int(kept.sum()),
        "of": int(every.sum()),
        "lacking": {name: lacks[name] for name in whole.systems if name in shown and lacks[name]},
        "dropped": {name: lacks[name] for name in table.dropped},
        "unasked": whole.unasked,
    }


def compared_of(context: Context) -> Compared:
    return compared(context.table, context.labels)


def compared_notes(found: Compared) -> Iterator[str]:
    """Say in sentences what is left out; nothing where every system was asked every question."""
    if found["questions"] < found["of"]:
        count = len(found["systems"])
        several = f"{'both' if count == 2 else f'all {count:,}'} systems were"
        who = several if count > 1 else f"{shown_name(found['systems'][0])} was"
        yield (
            f"Compared on {found['questions']:,} of {found['of']:,} questions: those that {who} asked. The "
            f"others are missing from {_named(found['lacking'])}."
        )
    if found["of"] and not found["questions"]:
        yield "There is no question that all of these systems were asked, so there is no figure: choose fewer systems."
    if found["dropped"]:
        yield (
            f"Left out, because they were asked less than half of the {found['of']:,} questions: "
            f"{_named(found['dropped'])}. Choose systems by name to include them."
        )
    if found["unasked"]:
        unasked = ", ".join(map(shown_name, found["unasked"]))
        yield f"Left out, because they were asked no question of this pool: {unasked}."


def _named(counts: dict[str, int]) -> str:
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = f" and {len(most) - NAMED:,} more" if len(most) > NAMED else ""
    return ", ".join(f"{shown_name(name)} (not asked {count:,})" for name, count in most[:NAMED]) + more
