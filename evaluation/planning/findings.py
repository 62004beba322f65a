"""Read which contributors found each pooled triple, and how many candidates of each system are judged."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotation.enums import Verdict
from annotation.judging.judgements import current_verdicts
from core.errors import UserError
from evaluation.labels.label_sets import LabelSet, label_set
from evaluation.labels.pool_table import PoolTable, triple_codes
from evaluation.measures.judged import held_share
from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import Labelled
from evaluation.measures.rank_table import Flags
from evaluation.sections.figure_cache import Content, FigureBusy, current_figure, figure_version
from evaluation.sections.section import Context, Json, number
from evaluation.sections.settings import Settings
from pooling.graphs.opening import open_graph
from pooling.models import Pool, System
from pooling.pools import filtering as filters
from pooling.pools.build import gather_runs
from pooling.pools.kernels.gathering import Gathered
from pooling.pools.raw import lacking_raw
from pooling.pools.report import NO_FAMILY, families_named
from pooling.pools.rows import read_rows
from pooling.pools.seeds import seed_array
from pooling.scoring.rank_rows import find
from pooling.systems.spec import FAMILIES
from pooling.training.train import systems_with_runs

TOP = 10


def reuse_version(pool: Pool) -> str:
    """Return a text that changes with the pool's contributors, filters, depth and freezing."""
    about = f"{pool.contributors} {pool.filters} {pool.depth} {pool.frozen_at}"
    return hashlib.sha256(about.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Findings:
    """Contributors of a pool and what they found, bool [triples of the table, names].

    `by_ranks`: from what runs return now instead of from provenance.
    """

    names: list[str]
    found: Flags
    by_ranks: bool

    def families(self, pool: Pool) -> dict[str, Flags]:
        """Return the contributors of each family, bool [names]; empty where there is one family only."""
        of = families_named(pool, self.names)
        found = {family: np.array([own == family for own in of]) for family in (*FAMILIES, NO_FAMILY) if family in of}
        return found if len(found) > 1 else {}

    def folded(self, chosen: Mapping[str, str]) -> "Findings":
        """Return these with one contributor for each family of seeds, by the chosen seed of each name of a seed."""
        own = np.array([chosen.get(name, name) for name in self.names])
        names = list(dict.fromkeys(own.tolist()))
        found = [self.found[:, own == name].any(axis=1) for name in names]
        return replace(self, names=names, found=np.stack(found, axis=1)) if names else self


def findings(pool: Pool, table: PoolTable) -> Findings:
    """Return findings from the provenance of pooled triples, else from the candidates that runs return now."""
    ids, gathered, _ = read_rows(pool)
    if not len(gathered.findings):
        return _by_ranks(pool, table)
    places = np.array([table.position_of[pk] for pk in ids.tolist()], dtype=np.int64)
    found = np.zeros((len(table.triples), len(pool.contributors)), dtype=bool)
    found[np.repeat(places, np.diff(gathered.indptr)), gathered.findings["system"]] = True
    return Findings(list(pool.contributors), found, by_ranks=False)


def _by_ranks(pool: Pool, table: PoolTable) -> Findings:
    systems = {system.name: system for system in systems_with_runs(pool)}
    found = np.zeros((len(table.triples), len(table.systems)), dtype=bool)
    for column, name in enumerate(table.systems):
        places = places_of(table, candidates_of(pool, systems[name]).triples)
        found[places[places >= 0], column] = True
    found[table.pooled_id == 0] = False
    return Findings(list(table.systems), found, by_ranks=True)


def candidates_of(pool: Pool, system: System) -> Gathered:
    """Return the triples that a system brings to the pool: its candidates to the pool's depth for every seed.

    They follow the pool's rule, if the run can (`check_raw`); else they are the first filtered ones.
    """
    graph, seeds = open_graph(pool.graph), seed_array(pool)
    raw = pool.is_raw and not lacking_raw([system], seeds, graph)
    return gather_runs([system.name], [system], seeds, pool.depth, graph, raw)


def places_of(table: PoolTable, triples: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the place of each triple int[m, 3] in the table, -1 for triples outside it."""
    return find(triple_codes(table.triples, table.graph), triple_codes(triples, table.graph))


def contributors_here(pool: Pool) -> set[str]:
    """Return the contributors whose system is in this database.

    A name in the file of a pool need not be the system with this name here.
    """
    names = set(pool.systems.values_list("name", flat=True))
    runs = System.objects.filter(graph=pool.graph_id, name__in=pool.contributors)
    return names | {system.name for system in runs if system.is_imported}


@dataclass(frozen=True)
class Judged:
    """Judged share of the first candidates of a system, on the questions of the seeds.

    `k` is the number of candidates by which it is compared: ten, or the pool's depth where that is less. `shares` is
    {k: share, None where no question is asked}; `limits` the largest share that any system could have, since the pool
    holds only so many candidates of some questions; `outside` its first candidates, to the pool's depth, that are not
    pooled, `to_people` those of them that no filter takes; `waiting` those that are pooled and have no judgement, not
    even an undecided one.
    """

    system: str
    is_pooled: bool
    k: int
    shares: dict[int, float | None]
    limits: dict[int, float | None]
    outside: int = 0
    to_people: int = 0
    waiting: int = 0

    @property
    def missing(self) -> int:
        """Return how many triples people must judge until all first candidates are judged."""
        return self.to_people + self.waiting

    def of_possible(self, k: int) -> float | None:
        """Return Judged@k as a share of what the pool could hold."""
        judged, limit = self.shares[k], self.limits[k]
        return judged / limit if judged is not None and limit else None

    def is_comparable(self, share: float) -> bool:
        """Return whether the system is of the pool, or enough of what the pool could hold of its first k is judged."""
        judged = self.of_possible(self.k)
        return self.is_pooled or judged is None or judged >= share


def judged_shares(
    pool: Pool, table: PoolTable, chosen: LabelSet, assumed_is_judged: bool
) -> dict[str, dict[int, float | None]]:
    """Return judged@k of every system at ten and at the pool's depth. `chosen`: of the original questions."""
    cuts = sorted({TOP, pool.depth})
    found = chosen.values([f"judged@{k}" for k in cuts], assumed_is_judged).values()
    means = [value.mean() for value in found]
    return {
        name: {k: number(mean[i]) for k, mean in zip(cuts, means, strict=True)} for i, name in enumerate(table.systems)
    }


def judged_limits(pool: Pool, table: PoolTable, chosen: LabelSet) -> dict[int, float | None]:
    """Return the largest Judged@k that any system could have, at ten and at the pool's depth.

    The mean over the questions of min(k, seeds and pooled triples that answer it) / min(k, candidates).
    """
    answers = Labelled(chosen.prepared, chosen.state)
    asked = slice(None) if chosen.asked is None else chosen.asked[answers.question]
    held = table.is_seed | (table.pooled_id > 0)
    shares = {k: held_share(answers, held, k)[asked] for k in sorted({TOP, pool.depth})}
    return {k: number(of.mean()) if len(of) else None for k, of in shares.items()}


def judged_of(
    pool: Pool, table: PoolTable, chosen: LabelSet, assumed_is_judged: bool, share: float | None = None
) -> list[Judged]:
    """Return what is judged of every system, in table order; with `share` only of those not comparable.

    `chosen` must be of the original questions.
    """
    systems = {system.name: system for system in systems_with_runs(pool)}
    seeds, pooled = seed_array(pool), contributors_here(pool)
    waits = (chosen.state == LabelState.UNJUDGED) & ~undecided_places(pool, table)
    rows, limits = [], judged_limits(pool, table, chosen)
    for name, shares in judged_shares(pool, table, chosen, assumed_is_judged).items():
        row = Judged(name, name in pooled, min(TOP, pool.depth), shares, limits)
        if share is not None and row.is_comparable(share):
            continue
        gathered = candidates_of(pool, systems[name])
        places = places_of(table, gathered.triples)
        inside = places >= 0
        inside[inside] = table.pooled_id[places[inside]] > 0
        left = filters.reasons(gathered, seeds, table.graph, pool.filters) == ""
        outside, to_people = int((~inside).sum()), int((left & ~inside).sum())
        waiting = int(waits[places[inside]].sum())
        rows.append(replace(row, outside=outside, to_people=to_people, waiting=waiting))
    return rows


def undecided_places(pool: Pool, table: PoolTable) -> Flags:
    """Return the triples that people judged without an answer, bool [triples]; nobody is asked again."""
    verdicts = current_verdicts(pool)
    found = np.zeros(len(table.triples), dtype=bool)
    ids = verdicts.triple_id[verdicts.verdict == Verdict.UNDECIDED]
    found[[table.position_of[i] for i in ids.tolist()]] = True
    return found


def not_comparable(pool: Pool) -> dict[str, Json]:
    """Return {system: {judged, of_possible, k, missing}} of the systems not comparable under the usual settings.

    A kept figure; empty where it is not known yet, so that it never holds up a page that mentions it.
    """

    def compute() -> Content:
        context = Context(pool, Settings(questions="original"))
        rows = judged_of(pool, context.table, context.labels, True, context.settings.share)
        found = {
            row.system: {
                "judged": row.shares[row.k],
                "of_possible": row.of_possible(row.k),
                "k": row.k,
                "missing": row.missing,
            }
            for row in rows
        }
        return {"systems": found}

    try:
        found: dict[str, Json] = current_figure(pool, "comparable", figure_version(pool), compute).content["systems"]
    except (FigureBusy, UserError):
        return {}
    return found


def original(pool: Pool, table: PoolTable, settings: Settings) -> LabelSet:
    """Return the chosen labels on the questions of the seeds."""
    return label_set(pool, table, settings.labels, "original")


def own_places(systems: Sequence[str], names: Sequence[str], group: Flags, here: set[str]) -> NDArray[np.int64]:
    """Return the places of a group's contributors among the evaluated systems, without those that are not here."""
    chosen = here & {name for name, own in zip(names, group.tolist(), strict=True) if own}
    return np.array([i for i, system in enumerate(systems) if system in chosen], dtype=np.int64)
