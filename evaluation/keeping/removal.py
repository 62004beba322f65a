"""Delete a graph, a system, a pool or an open-world study, with everything that depends on it.

The foreign keys of all apps tell what depends on it. The rows go in one transaction, the files after it: a kill in
between leaves files that no row names, and never a row without its files.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.db import IntegrityError, models, transaction
from django.db.models import Q, QuerySet, TextChoices

from annotation.judging.judgements import live_labels
from annotation.models import CheckLabel, Label, SurplusLabel
from core.enums import LIVE
from core.errors import GoneError
from core.files.storage import delete, sizes
from core.models import Job
from core.people.audit_log import record
from evaluation.enums import EvaluationAct, QrelsOrigin
from evaluation.keeping.archive import KeepingError
from evaluation.keeping.tables import owners_of_artifacts
from evaluation.models import Qrels, Study, StudyRun
from evaluation.open_world.study import get_study, is_under_way
from pooling.enums import PoolingAct
from pooling.graphs.opening import get_graph
from pooling.jobs import live_jobs
from pooling.models import Graph, Pool, System
from pooling.pools.build import get_pool

KINDS = ("graph", "system", "pool", "study")
Subject = Graph | System | Pool | Study
Going = dict[type[models.Model], QuerySet[Any]]

_PEOPLES = (Label, SurplusLabel, CheckLabel)
_ACTS: dict[type[models.Model], TextChoices] = {
    Graph: PoolingAct.GRAPH_DELETED, System: PoolingAct.SYSTEM_DELETED, Pool: PoolingAct.POOL_DELETED,
    Study: EvaluationAct.STUDY_DELETED,
}  # fmt: skip
USED_BY = "Pool {} uses it: archive it instead."


@dataclass(frozen=True)
class Preview:
    """List what would go with a subject: rows by kind, files, bytes; `refused` says why it has to stay, if it does.

    `held_by`: what keeps it and has a page of its own, as pairs of kind (job, study, pool) and name.
    """

    kind: str
    name: str
    rows: list[tuple[str, int]]
    files: int
    bytes: int
    refused: list[str]
    held_by: list[tuple[str, str]]


def find_subject(kind: str, name: str) -> Subject:
    """Return the subject with the name that a command gives, GRAPH/SYSTEM for a system. UserError lists the names."""
    if kind == "graph":
        return get_graph(name)
    if kind == "pool":
        return get_pool(name)
    if kind == "study":
        return get_study(name)
    graph_name, _, system_name = name.partition("/")
    graph = get_graph(graph_name)
    system = System.every.select_related("graph").filter(graph=graph, name=system_name).first()
    if system is None:
        known = ", ".join(f"{graph.name}/{n}" for n in graph.systems.values_list("name", flat=True)) or "none"
        raise KeepingError(f"There is no system {name!r}. Systems of {graph.name}: {known}.")
    return system


def preview(subject: Subject, *, with_labels: bool = False) -> Preview:
    """Count what goes with `subject`, and change nothing."""
    going = _going(subject)
    counted = ((model, rows.count()) for model, rows in going.items() if not model._meta.auto_created)
    rows = [(str(model._meta.verbose_name_plural), n) for model, n in counted if n]
    files, kind = [size for name in _artifacts(going) for size in sizes(name)], str(type(subject)._meta.verbose_name)
    refused, held_by = _refusals(subject, going, with_labels)
    return Preview(kind, str(subject), rows, len(files), sum(files), refused, held_by)


def remove(subject: Subject, user: User | None, *, with_labels: bool = False) -> Preview:
    """Delete `subject` with everything that preview() counts; delete nothing and raise KeepingError where it stays.
    GoneError: somebody else deleted it first.

    `with_labels`: labels of people and frozen qrels go too; without it, their pools, systems and graphs stay.
    """
    try:
        with transaction.atomic():
            going = _going(subject)
            for model in (Graph, System, Pool, Study):  # a request that starts a job of one of them waits
                if model in going:
                    list(going[model].select_for_update().values_list("pk", flat=True))
            if not going[type(subject)].exists():
                raise GoneError(f"{subject} was deleted already.")
            gone = preview(subject, with_labels=with_labels)
            if gone.refused:
                raise KeepingError(f"{subject} stays. {' '.join(gone.refused)}")
            artifacts = _artifacts(going)
            _clear_references(going)
            for of, rows in reversed(going.items()):
                deleted = rows._raw_delete(rows.db)
                if deleted and of in _PEOPLES and not with_labels:  # given since they were counted
                    raise KeepingError(f"{subject} stays: somebody has labelled it in this moment.")
            record(user, _ACTS[type(subject)], about=gone.name, rows=dict(gone.rows), bytes=gone.bytes)
            transaction.on_commit(lambda: delete(*artifacts))
    except IntegrityError as error:
        words = f"{subject} was used while it was being deleted, and nothing was deleted. Try again."
        raise KeepingError(words) from error
    return gone


# -- what goes --------------------------------------------------------------------------------------------------


def _going(subject: Subject) -> Going:
    """Return the rows that go, by model, after the models they refer to; a study goes with the graphs made for it."""
    roots: dict[type[models.Model], Q] = {type(subject): Q(pk=subject.pk)}
    if isinstance(subject, Study):
        # their numbers, since the rows that tell them go first
        roots[Graph] = Q(pk__in=list(subject.runs.values_list("graph", flat=True)))
    going: Going = {}
    waiting = _reached(set(roots))
    while waiting:
        for model in list(waiting):
            parents = [(f, to) for f, to in _references(model) if to in waiting or to in going]
            if any(to in waiting and to is not model for _, to in parents):
                continue
            found = [Q(**{f"{f.name}__in": going[to].values("pk")}) for f, to in parents if to is not model]
            condition = reduce(or_, found, roots.get(model, Q(pk__in=[])))
            going[model] = model._base_manager.filter(condition).order_by()
            waiting.remove(model)
    return going


def _reached(roots: set[type[models.Model]]) -> list[type[models.Model]]:
    """Return the roots and every model whose rows depend on theirs, in the order of the apps."""
    reached, grown = set(roots), True
    every = apps.get_models(include_auto_created=True)
    while grown:
        more = {m for m in every if m not in reached and any(to in reached for _, to in _references(m))}
        reached, grown = reached | more, bool(more)
    return [model for model in every if model in reached]


def _references(model: type[models.Model], nulled: bool = False) -> Iterator[tuple[Any, type[models.Model]]]:
    """Yield the foreign keys of a model with their targets; with `nulled`, those that are emptied with the target."""
    for field in model._meta.concrete_fields:
        to = field.remote_field if isinstance(field, models.ForeignKey) else None
        if to is not None and (to.on_delete is models.SET_NULL) == nulled:
            yield field, to.model


def _clear_references(going: Going) -> None:
    for model in apps.get_models(include_auto_created=True):
        for field, to in _references(model, nulled=True):
            if to in going:
                model._base_manager.filter(**{f"{field.name}__in": going[to].values("pk")}).update(**{field.name: None})


def _refusals(subject: Subject, going: Going, with_labels: bool) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the reasons why the subject stays, a sentence each, and what keeps it; both empty where it may go."""
    found: list[str] = []
    held_by: list[tuple[str, str]] = []
    live = going[Job].filter(state__in=LIVE) if isinstance(subject, Study) else live_jobs(subject)
    if (job := live.order_by("id").first()) is not None:
        found.append(f"Job {job.pk} is at work on it: cancel it first, or wait for its end.")
        held_by.append(("job", str(job.pk)))
    elif isinstance(subject, Study) and is_under_way(subject):
        found.append("It is under way: cancel its jobs first, or wait for their end.")
    if isinstance(subject, Study):
        pools = list(Pool.objects.filter(graph__study_runs__study=subject).order_by("name").distinct())
        found += [f"Pool {pool} is on a graph of the study: delete the pool first." for pool in pools]
        held_by += [("pool", pool.name) for pool in pools]
    else:
        studies = list(Study.objects.filter(runs__in=going[StudyRun]).distinct()) if StudyRun in going else []
        found += [f"Open-world study {study} rests on it: delete the study instead." for study in studies]
        held_by += [("study", study.name) for study in studies]
    if isinstance(subject, System):
        users = list(subject.pools.order_by("name"))
        found += [USED_BY.format(pool) for pool in users]
        held_by += [("pool", pool.name) for pool in users]
        found += [] if with_labels else _measured_by(subject)
    if not with_labels and (precious := _precious(subject, going)):
        found += precious
        if isinstance(subject, Graph):
            held_by += [("pool", name) for name in going[Pool].order_by("name").values_list("name", flat=True)]
    return found, held_by


def _measured_by(system: System) -> list[str]:
    """Name the frozen qrels whose test set measures a system: without its run the set could not be written again."""
    frozen = Qrels.objects.filter(pool__graph=system.graph, systems__isnull=False).select_related("pool")
    named = [str(qrels) for qrels in frozen.order_by("pk") if system.name in (qrels.systems or ())]
    return [f"The test set of qrels {name} measures it: archive it instead." for name in named]


def answer_run_uses(system: System, **kwargs: Any) -> list[str]:
    """Say why the run of a system must stay as it is: a receiver of run_uses."""
    return _measured_by(system)


def _precious(subject: Subject, going: Going) -> list[str]:
    every = sum(going[model].count() for model in _PEOPLES if model in going)
    labels = live_labels().filter(pk__in=going[Label].values("pk")).count() if Label in going else 0
    others = every - labels
    frozen = going[Qrels].filter(origin=QrelsOrigin.FROZEN).count() if Qrels in going else 0
    held = [f"{labels:,} {'labels' if labels > 1 else 'label'} of people"] if labels else []
    kinds = "changed, withdrawn, late, or to a check"
    held += [f"{others:,} {'answers' if others > 1 else 'answer'} of people that no judgement counts ({kinds})"] * (
        others > 0
    )
    held += [f"{frozen:,} frozen qrels"] if frozen else []
    if not held:
        return []
    kind = type(subject)._meta.verbose_name
    return [
        f"It holds {' and '.join(held)}, which nobody can make again: archive it instead. If you are sure, make a "
        f"backup and delete it on the server: remove {kind} {subject} --with-labels."
    ]


# -- files ------------------------------------------------------------------------------------------------------


def _artifacts(going: Going) -> list[str]:
    """Return folders and files that rows own."""
    owners = [model for model in owners_of_artifacts() if model in going]
    owned = [name for model in owners for name in going[model].values_list("artifact", flat=True)]
    return [name for name in dict.fromkeys(owned) if name]
