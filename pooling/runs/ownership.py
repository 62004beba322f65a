"""Runs that people brought: who may see them, and publishing, replacing and deleting them.

A run is private until its owner publishes it. `System.objects` and `Run.objects` leave private ones out, so that what
everybody sees cannot hold one; what is here asks `every`.
"""

from functools import partial

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from core.database import gone, held
from core.errors import UserError
from core.files.storage import delete
from core.people.audit_log import record
from core.people.roles import Person, can_manage
from pooling.enums import PoolingAct, PoolState
from pooling.graphs.opening import open_graph
from pooling.jobs import live_jobs
from pooling.models import Pool, Run, System
from pooling.runs.score import score_system, triple_array, wanted_triples
from pooling.signals import run_uses


class OwnerError(UserError):
    """A run cannot be published, replaced or deleted now, or not by this person."""


def visible_runs(person: Person) -> QuerySet[Run]:
    """Return the runs that a person may see: published ones and own ones; managers see all."""
    runs = Run.every.select_related("system__graph")
    return runs if can_manage(person) else runs.filter(Q(system__private=False) | Q(system__owner=person.pk))


def visible_systems(person: Person) -> QuerySet[System]:
    """Return the systems that a person may see: published ones and own ones; managers see all."""
    systems = System.every.select_related("graph")
    return systems if can_manage(person) else systems.filter(Q(private=False) | Q(owner=person.pk))


def may_change(person: Person, system: System) -> bool:
    """Tell whether a person may publish, replace and delete a run: its owner and managers may."""
    return system.is_imported and (can_manage(person) or (person.pk is not None and system.owner_id == person.pk))


def is_private_at_first(person: User | None) -> bool:
    """Tell whether a run that the person brings is private at first; those of managers and the server are not."""
    return person is not None and not can_manage(person)


def publish(system: System, user: User) -> None:
    """Let everybody see the run, and fill its rank rows for the pools of its graph that are ready."""
    check_owner(user, system)
    arrays = open_graph(system.graph)
    for pool in Pool.objects.filter(graph=system.graph_id, state=PoolState.READY):
        score_system(system, seeds=triple_array(pool.seeds.all()), triples=wanted_triples(pool, arrays))
    with transaction.atomic():
        if System.every.filter(pk=system.pk, private=True).update(private=False):
            record(user, PoolingAct.RUN_PUBLISHED, about=str(system))
    system.private = False


def delete_run(system: System, user: User | None) -> None:
    """Delete a run with its system, rows first; OwnerError where pools or frozen qrels rest on it."""
    with transaction.atomic():
        hold(system)
        check_changeable(system, user, "deleted")
        run = Run.every.filter(system=system).first()
        record(user, PoolingAct.RUN_DELETED, about=str(system))
        System.every.get(pk=system.pk).delete()
        if run is not None:
            transaction.on_commit(partial(delete, run.artifact))


def hold(system: System) -> None:
    """Keep others from changing or deleting the system until the transaction ends; GoneError if it is gone."""
    held(system.graph)
    if not System.every.select_for_update().filter(pk=system.pk).exists():
        raise gone(system)


def check_owner(user: Person, system: System) -> None:
    """Raise OwnerError unless the person may change the run."""
    if not system.is_imported:
        raise OwnerError(f"{system.name} is a system of this site, not a run that somebody brought.")
    if not may_change(user, system):
        raise OwnerError(f"The run {system.name} belongs to somebody else: ask its owner or a manager.")


def check_changeable(system: System, user: User | None, what: str) -> None:
    """Raise OwnerError if the person (None: a command) may not change the run, or something rests on it."""
    if user is not None:
        check_owner(user, system)
    reasons = [
        f"Pool {name} was built with it." for name in system.pools.order_by("name").values_list("name", flat=True)
    ]
    for _, told in run_uses.send(System, system=system):
        reasons += told or []
    if (job := live_jobs(system).first()) is not None:
        reasons.append(f"Job {job.pk} is at work on it.")
    if reasons:
        raise OwnerError(
            f"{system.name} cannot be {what}, since others rest on it. {' '.join(reasons)} Import the new run under "
            "another name, or ask a manager to archive this one."
        )
