"""Find what runs lack of a pool, questions that they were never asked or rank rows, and say how they get it."""

from collections.abc import Collection, Iterable

import numpy as np
from django.db.models import QuerySet

from core.people.roles import Person
from pooling.graphs.opening import open_graph
from pooling.models import Pool, Run, System
from pooling.models.system import IMPORTED
from pooling.questions.kernel import Questions, distinct_questions, questions_from_keys
from pooling.runs.asked import was_asked
from pooling.runs.files import RunError, came_with_test_set
from pooling.runs.ownership import visible_runs
from pooling.runs.score import triple_array
from pooling.scoring.rank_rows import question_keys


def topics_of(pool: Pool) -> np.ndarray:
    """Return the sorted keys int64[n] of the pool's topics: both questions of every seed and pooled triple."""
    triples = np.concatenate([triple_array(pool.seeds.all()), triple_array(pool.triples.order_by())])
    return question_keys(distinct_questions(triples), *open_graph(pool.graph).shape)


def _seen_runs(pool: Pool, person: Person | None) -> QuerySet[Run]:
    """Return the runs of the pool's graph that a person may see; a command (None) sees all."""
    runs = Run.every.select_related("system__graph") if person is None else visible_runs(person)
    return runs.filter(system__graph=pool.graph_id)


def lacking_questions(pool: Pool, name: str, person: Person | None = None) -> Questions:
    """Return the topics of the pool that the run of a system was not asked; None as person: a command, which sees all.

    RunError for a system without a run that the person may see.
    """
    run = _seen_runs(pool, person).filter(system__name=name).first()
    if run is None:
        raise RunError(f"Graph {pool.graph.name} has no run of a system {name[:80]!r}. Name a system with a run.")
    keys = topics_of(pool)
    return questions_from_keys(keys[~was_asked(run, keys)], *open_graph(pool.graph).shape)


def lacking_runs(pool: Pool, person: Person | None = None) -> dict[str, int]:
    """Return how many topics of the pool each run from outside was not asked; archived systems are left out.

    Private runs are there if the person may see them; None: a command, which sees all.
    """
    found = list(_seen_runs(pool, person).filter(system__kind=IMPORTED, system__archived=False).order_by("system_id"))
    if not found:
        return {}
    keys = topics_of(pool)
    counts = {run.system.name: int((~was_asked(run, keys)).sum()) for run in found}
    return {name: count for name, count in counts.items() if 0 < count < len(keys)}


def lacking_words(pool: Pool, system: System) -> str:
    """Say how many topics of the pool an imported system was not asked and what to do; "" where it lacks none."""
    keys = topics_of(pool)
    lacks = int((~was_asked(system.run, keys)).sum())
    if not lacks:
        return ""
    what = f"{lacks:,} of the {len(keys):,} questions of pool {pool.name}"
    if lacks == len(keys):
        what = f"any question of pool {pool.name}: its run was made for other questions"
    return (
        f"{system.name} was not asked {what}. Scoring cannot help, since its model is not here. Have it answer "
        f"export_topics {pool.name} FILE --lacking {system.name}, and import all its answers under another name."
    )


def check_asked(pool: Pool, systems: Iterable[System]) -> None:
    """Raise RunError for an imported system whose run was made for other questions than those of the pool."""
    keys = topics_of(pool)
    for system in systems:
        if system.is_imported and hasattr(system, "run") and len(keys) and not was_asked(system.run, keys).any():
            raise RunError(lacking_words(pool, system))


def beyond_scoring(pool: Pool, names: Collection[str]) -> list[str]:
    """Return which of these systems cannot be scored here: neither their model nor a file of their answers is here."""
    systems = pool.graph.systems.filter(name__in=names, kind=IMPORTED).order_by("id")
    runs = {run.system_id: run for run in Run.objects.select_related("system__graph").filter(system__in=systems)}
    return [
        system.name
        for system in systems
        if system.is_a_file and (system.pk not in runs or came_with_test_set(runs[system.pk]))
    ]


def rows_advice(pool: Pool, names: Collection[str]) -> str:
    """Say in sentences how systems whose runs lack rank rows of the pool get them; "" without names."""
    stuck = beyond_scoring(pool, names)
    said = [f"Run score_runs {pool.name}."] if len(stuck) < len(names) else []
    if stuck:
        said.append(
            f"Scoring cannot help {', '.join(stuck)}, whose model is not here: import a new run under another name."
        )
    return " ".join(said)
