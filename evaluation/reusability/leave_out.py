"""Leave systems and families out of a pool one by one, and build the sections that show the effect."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.labels.pool_table import EvaluationError
from evaluation.measures.label_state import LabelState, nonrelevant
from evaluation.measures.rank_table import Flags
from evaluation.measures.registry import Measure
from evaluation.planning.findings import Findings, contributors_here, findings, own_places
from evaluation.reusability.kernel import LeaveOut, found_by_only, largest_shift, leave_out
from evaluation.sections.growth_curves import asked_rows, order_notes
from evaluation.sections.section import (
    Cell,
    Chart,
    Column,
    Context,
    Json,
    Section,
    Table,
    cell,
    label_caption,
    number,
    numbers,
)
from evaluation.sections.wording import signed
from pooling.systems.shown_names import shown_name

NOT_HERE = "it has no run here"
NO_TAU = "fewer than two systems have a value, or one of the two orders ties them all"
NOBODY = "no other system has a value"


@dataclass(frozen=True)
class Group:
    """Contributors that are left out together."""

    name: str
    dropped: Flags  # [triples] that nobody else found
    own: NDArray[np.int64]  # places among the evaluated systems
    triples: int
    positives: int
    judged: int


@dataclass(frozen=True)
class LeftOut:
    """Groups that were left out, and the effect by every measure."""

    groups: list[Group]
    by_measure: dict[str, LeaveOut]

    def shifted(self, measure: str) -> NDArray[np.int64]:
        """Return the system outside each group that moves most; -1: none."""
        found = self.by_measure[measure]
        return largest_shift(found.place_before, found.place_after, [group.own for group in self.groups])


def groups_of(context: Context, found: Findings, here: set[str], members: dict[str, Flags]) -> list[Group]:
    state = context.labels.state
    judged = nonrelevant(state, context.settings.assumed_is_judged) | (state == LabelState.POSITIVE)
    groups = []
    for name, group in members.items():
        dropped = found_by_only(found.found, group)
        positives = int((dropped & (state == LabelState.POSITIVE)).sum())
        own = own_places(context.systems, found.names, group, here)
        groups.append(Group(name, dropped, own, int(dropped.sum()), positives, int((dropped & judged).sum())))
    return groups


def left_out(context: Context, groups: list[Group]) -> LeftOut:
    labels, settings, dropped = context.labels, context.settings, [group.dropped for group in groups]
    by_measure = leave_out(asked_rows(labels), labels.state, dropped, settings.measures, settings.assumed_is_judged)
    return LeftOut(groups, by_measure)


def each_system(context: Context) -> tuple[Findings, LeftOut, LeftOut]:
    """Return findings, each contributor left out, and each family left out. EvaluationError for full test.

    A family of seeds is one contributor, by its chosen seed. If the settings choose systems, only these, and families
    with one of them, are left out.
    """
    if context.labels.key == "full-test":
        raise EvaluationError("Full test was not pooled: choose other labels.")
    pool = context.pool
    found = findings(pool, context.each.table)
    # without provenance the contributors are the systems that are here
    here = set(found.names) if found.by_ranks else contributors_here(pool)
    chosen = {seed: name for name, seeds in context.seeds_of.items() for seed in here & set(seeds)}
    found, here = found.folded(chosen), {chosen.get(name, name) for name in here}
    alone = {name: np.arange(len(found.names)) == i for i, name in enumerate(found.names)}
    asked = np.isin(found.names, context.systems) | (not context.settings.systems)
    chosen_of = [{name: of for name, of in every.items() if asked[of].any()} for every in (alone, found.families(pool))]
    groups = [groups_of(context, found, here, members) for members in chosen_of]
    return found, left_out(context, groups[0]), left_out(context, groups[1])


def by_leaving_out(context: Context) -> list[Section]:
    found, systems, families = each_system(context)
    groups = {"system": systems, **({"family": families} if families.groups else {})}
    return [_section(context, found, left, what) for what, left in groups.items()]


def _section(context: Context, found: Findings, left: LeftOut, what: str) -> Section:
    source = (
        "The pool has no provenance: a triple is taken to be found by the systems whose first candidates hold it today,"
        " and by others where none does."
        if found.by_ranks
        else "Who found a triple is known from its provenance."
    )
    seeds = (
        " A family of seeds is left out as one system, with all that only its seeds found." if context.is_folded else ""
    )
    only = ""
    if context.settings.systems:
        only = f" Only {'the chosen systems' if what == 'system' else 'families of the chosen systems'} are left out."
    return Section(
        f"leave-{what}",
        f"Without one {what}",
        f"The order of the systems if this {what} had not been in the pool: the triples that only it found leave the"
        " pool with their labels, and every system is scored again. If its own place shifts far, the labels are not"
        " fair to a system like it.",
        f"{label_caption(context.labels, context.settings)} Tau-b between the orders of all {len(context.systems)}"
        f" systems with and without the labels. {source}{seeds}{only}",
        [_table(context, left, measure, what) for measure in context.measures],
        _chart(context, left, "systems" if what == "system" else "families") if left.groups else None,
        says(context, left, what),
        order_notes(context),
    )


def _table(context: Context, left: LeftOut, measure: Measure, what: str) -> Table:
    of_system = what == "system"
    columns = [
        Column("left_out", "Left out", "system" if of_system else "text"),
        Column("triples", "Only it found", "count", "pooled triples that nobody else found"),
        Column("judged", "Of these judged", "count"),
        Column("positives", "Of these positive", "count"),
        Column("tau", "Tau", "tau", "between the orders with and without"),
    ]
    if of_system:
        columns += [
            Column("place", "Own place with all", "count"),
            Column("place_without", "Own place without", "count"),
        ]
        columns += [Column("value", f"{measure.label} with all"), Column("change", "Own change", "change")]
    else:
        columns.append(Column("places", "Places of its systems", "systems", "with all labels and without"))
        columns.append(Column("change", "Own change", "change", f"of {measure.label}, mean over its systems"))
    columns += [Column("other", "Largest shift of another", "systems"), Column("other_places", "Its places", "text")]
    out, shifted = left.by_measure[measure.name], left.shifted(measure.name)
    rows = []
    for g, group in enumerate(left.groups):
        row: list[Cell] = [group.name, group.triples, group.judged, group.positives, cell(out.tau[g], NO_TAU)]
        row += _own(out, g, group) if of_system else _members(context, out, g, group)
        rows.append([*row, *_other(context, out, g, int(shifted[g]))])
    title = f"{measure.label} with each {what} left out"
    return Table(f"leave-{what}-{measure.name.replace('@', '-')}", title, columns, rows)


def _own(out: LeaveOut, g: int, group: Group) -> list[Cell]:
    if not group.own.size:
        return [cell(float("nan"), NOT_HERE)] * 4
    own = int(group.own[0])
    before, after = float(out.place_before[g, own]), float(out.place_after[g, own])
    no_place = "its value is undefined"
    return [
        cell(before, no_place),
        cell(after, no_place, **({"moved": int(before - after)} if np.isfinite(after) else {})),
        cell(out.before[own], no_place),
        cell(out.after[g, own] - out.before[own], no_place),
    ]


def _members(context: Context, out: LeaveOut, g: int, group: Group) -> list[Cell]:
    """Return the places of a family's systems, and the mean change of their values."""
    moved = ((context.systems[own], out.places(g, own)) for own in group.own.tolist())
    moves = [f"{name} {places[0]} → {places[1]}" for name, places in moved if places]
    change = (out.after[g] - out.before)[group.own]
    mean = float(change.mean()) if change.size else float("nan")
    return [
        ", ".join(moves),
        cell(mean, "a value is undefined" if change.size else "no system of this family has a run here"),
    ]


def _other(context: Context, out: LeaveOut, g: int, system: int) -> list[Cell]:
    places = out.places(g, system) if system >= 0 else None
    if places is None:
        return [NOBODY, ""]
    before, after = places
    return ["none moves", ""] if before == after else [context.systems[system], f"{before} → {after}"]


def _chart(context: Context, left: LeftOut, plural: str) -> Chart:
    """Draw tau of every group and measure: most are alike, so that a map shows the few that are not."""
    values = [
        numbers(of_group) for of_group in np.stack([left.by_measure[m.name].tau for m in context.measures], axis=1)
    ]
    names, measures = [group.name for group in left.groups], [measure.label for measure in context.measures]
    label = f"Tau with and without each of the {plural}, by measure"
    return Chart("matrix", label, {"rows": names, "columns": measures, "values": values, "digits": 2})


def says(context: Context, left: LeftOut, what: str) -> str:
    """Say by the first measure which system moves most when it is left out, or that the order holds."""
    measure = context.measures[0]
    out = left.by_measure[measure.name]
    moves = []
    for g, group in enumerate(left.groups):
        for own in group.own.tolist():
            if places := out.places(g, own):
                moves.append((abs(places[0] - places[1]), context.systems[own], *places))
    defined = out.tau[np.isfinite(out.tau)]
    if not moves or not defined.size:
        return ""
    most, system, before, after = max(moves, key=lambda move: move[0])
    whom = "it" if what == "system" else "its family"
    least, greatest = signed(defined.min()), signed(defined.max())
    tau = f"tau is {least} each time" if least == greatest else f"tau is at least {least}"
    if most == 0:
        return f"By {measure.label} no system moves when {whom} is left out; {tau}."
    moved = f"{shown_name(system)} moves most when {whom} is left out, from place {before} to {after}"
    return f"By {measure.label} {moved}; {tau}."


def left_json(context: Context, left: LeftOut) -> Json:
    """Return the effect of leaving out each group as JSON; places as [with all labels, without]."""
    found: Json = {}
    for g, group in enumerate(left.groups):
        measures = {}
        for name, out in left.by_measure.items():
            other, change = int(left.shifted(name)[g]), out.after[g] - out.before
            measures[name] = {
                "tau": number(out.tau[g]),
                "own": {context.systems[own]: list(out.places(g, own) or (None, None)) for own in group.own.tolist()},
                "change": {context.systems[own]: number(change[own]) for own in group.own.tolist()},
                "largest_shift_of_another": {context.systems[other]: list(out.places(g, other) or ())}
                if other >= 0
                else {},
            }
        counts = {"triples": group.triples, "judged": group.judged, "positives": group.positives}
        found[group.name] = {**counts, "measures": measures}
    return found
