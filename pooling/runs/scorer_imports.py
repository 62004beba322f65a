"""Make a system of a scorer from outside (scorers.py), with the run that it gives."""

from typing import Any

from django.contrib.auth.models import User

from core.callbacks import UNWATCHED, Watch
from core.database import held, named_once
from core.people.audit_log import record
from pooling.enums import PoolingAct, SystemState
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, Run, System
from pooling.models.system import IMPORTED
from pooling.runs.score import score_system, triple_array, wanted_triples
from pooling.runs.scorers import find_scorer
from pooling.training.train import check_name


def import_scorer(
    graph: Graph,
    scorer: str,
    *,
    name: str,
    family: str,
    pool: Pool | None = None,
    user: User | None = None,
    watch: Watch = UNWATCHED,
) -> System:
    """Make a system called `name` whose run a registered scorer gives, for the pool's questions or all of test.

    RunError if the scorer is missing or fails; then nothing stays.
    """
    check_name(graph, name)
    find_scorer(scorer)
    arrays = open_graph(graph)
    seeds = arrays.test if pool is None else triple_array(pool.seeds.all())
    triples = arrays.test if pool is None else wanted_triples(pool, arrays)
    settings: dict[str, Any] = {
        "family": family,
        "scorer": scorer,
        "file": f"scorer {scorer}",
        "topics": (pool or graph).name,
    }
    with named_once(lambda: check_name(graph, name)):
        held(graph)
        fields = {"kind": IMPORTED, "state": SystemState.WAITING, "settings": settings, "artifact": ""}
        system = System.every.create(graph=graph, name=name, owner=user, **fields)
    try:
        score_system(system, seeds=seeds, triples=triples, watch=watch)
    except BaseException:
        Run.every.filter(system=system).delete()
        System.every.filter(pk=system.pk).delete()
        raise
    System.every.filter(pk=system.pk).update(state=SystemState.TRAINED)
    record(user, PoolingAct.RUN_IMPORTED, about=str(system), **settings)
    system.refresh_from_db()
    return system
