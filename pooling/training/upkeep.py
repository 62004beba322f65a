"""Clone a system with other settings, train it anew, archive it and take it back.

A system that a run or a pool uses never changes, since people may have cited its figures.
"""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from core.database import held, named_once
from core.jobs.lifecycle import start_job
from core.models import Job
from core.people.audit_log import record
from pooling.enums import PoolingAct, PoolingJob, SystemState
from pooling.jobs import live_jobs
from pooling.models import Graph, System
from pooling.training.attempts import drop_folder, new_folder
from pooling.training.best_seed import keep_best, without_device
from pooling.training.train import SystemError_, check_name, refuse_imported, resolve


def add_system(
    graph: Graph, kind: str, *, name: str, seed: int, overrides: Mapping[str, Any], device: str, user: User | None
) -> System:
    """Make a system with its own name, settings and seed, or a clone of another, and start the job that trains it."""
    settings = {**resolve(graph, kind, overrides), "device": device}
    check_name(graph, name)
    with named_once(lambda: check_name(graph, name)):
        held(graph)
        system = System(graph=graph, kind=kind, name=name, seed=seed, settings=settings)
        _refuse_twin(system)
        system.save()
        system.artifact = f"systems/{system.pk}"
        system.save(update_fields=["artifact"])
        start_job(PoolingJob.TRAIN, system=system, user=user)
    return system


def train_anew(system: System, *, seed: int, overrides: Mapping[str, Any], device: str, user: User | None) -> Job:
    """Forget what `system` has learned and train it from the start, perhaps with another seed and settings."""
    refuse_imported(system, "trained")
    settings = {**resolve(system.graph, system.kind, overrides), "device": device}
    with transaction.atomic():
        held(system)
        found = System.objects.select_related("graph").get(pk=system.pk)
        _refuse_busy(found)
        if used := uses_of(found):
            raise SystemError_(f"{found.name} stays as it is, since {' and '.join(used)}: clone it instead.")
        old = found.artifact
        found.seed, found.settings = seed, settings
        _refuse_twin(found)
        found.artifact = new_folder(found)  # nothing old can be resumed
        found.state, found.sha256, found.device, found.note = SystemState.WAITING, "", "", ""
        found.epochs_done, found.best_epoch, found.train_seconds, found.history = 0, 0, 0, []
        found.validation_mrr, found.peak_bytes, found.best_of_seeds = None, None, False
        found.save()
        for other in found.graph.systems.filter(kind=found.kind, best_of_seeds=True):
            keep_best(other)  # its choice does not wait for this one any more
        record(user, PoolingAct.SYSTEM_RETRAINED, about=str(found))
        job = start_job(PoolingJob.TRAIN, system=found, user=user)
        transaction.on_commit(lambda: drop_folder(found, old))
    return job


def uses_of(system: System) -> list[str]:
    """Say what uses a system; empty if it may still change."""
    used = []
    if hasattr(system, "run"):
        used.append("it has a run")
    pools = system.pools.order_by("name").values_list("name", flat=True)
    used += [f"pool {name} uses it" for name in pools]
    if hasattr(system, "study_run"):  # of evaluation, which this app does not know
        used.append("an open-world study compares its checkpoints")
    return used


def archive(system: System, user: User | None) -> None:
    """Take a system out of the lists and of new pools; the pools that use it keep it."""
    with transaction.atomic():
        _refuse_busy(system)
        if System.objects.filter(pk=system.pk, archived=False).update(archived=True):
            record(user, PoolingAct.SYSTEM_ARCHIVED, about=str(system))
        if system.state != SystemState.TRAINED:
            keep_best(system)  # the choice among its seeds does not wait for it any more


def restore(system: System, user: User | None) -> None:
    """Take a system back from the archive."""
    with transaction.atomic():
        if System.objects.filter(pk=system.pk, archived=True).update(archived=False):
            record(user, PoolingAct.SYSTEM_RESTORED, about=str(system))


def free_name(graph: Graph, wanted: str) -> str:
    """Return a free name for a system of the graph: rotate, or rotate-2, rotate-3 and so on."""
    taken = set(System.every.filter(graph=graph).values_list("name", flat=True))  # private runs too
    number, name = 2, wanted
    while name in taken:
        name, number = f"{wanted[:74]}-{number}", number + 1
    return name


def free_seed(graph: Graph, kind: str) -> int:
    """Return the first seed that no system of this kind has."""
    taken = set(graph.systems.filter(kind=kind).values_list("seed", flat=True))
    return next(seed for seed in range(len(taken) + 1) if seed not in taken)


def _refuse_busy(system: System) -> None:
    live = live_jobs(system).first()
    if live is not None:
        raise SystemError_(f"Job {live.pk} is at work on {system.name}: cancel it first, or wait for its end.")


def _refuse_twin(system: System) -> None:
    """Raise SystemError_ if a system has the same seed and settings, which would give the same system again."""
    alike = System.objects.filter(graph=system.graph, kind=system.kind, seed=system.seed).exclude(pk=system.pk)
    for other in alike:
        if without_device(other) == without_device(system):
            raise SystemError_(
                f"{other.name} has the same settings and seed {system.seed}: change one of them, or use that system."
            )
