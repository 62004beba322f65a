"""Make systems from the registry, train them as jobs, and resume them from their checkpoints."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q, QuerySet

from core.database import held
from core.errors import UserError
from core.files.artifacts import artifact_path, sha256_of
from core.jobs.fencing import fenced
from core.jobs.progress import JobCancelled, Progress
from core.machine import in_words
from core.models import Job
from pooling.enums import SystemState
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, System
from pooling.systems.spec import with_neutral
from pooling.training.attempts import not_written, take_over, uploads
from pooling.training.best_seed import keep_best

if TYPE_CHECKING:
    from pooling.learning.loop import EpochReport

OnEpoch = Callable[[int, Callable[[], Any]], None]  # the epoch that ended, and a function that makes its scorer

BEST_OF_ONE = "The best of one seed is that one: give 2 or more seeds to choose from."


class SystemError_(UserError):  # noqa: N801, N818 - SystemError is a builtin
    """A system does not exist, or cannot be made as asked."""


def check_name(graph: Graph, name: str) -> None:
    """Raise SystemError_ unless a new system of the graph can have this name."""
    if not re.fullmatch(r"[-a-zA-Z0-9_]{1,80}", name):
        raise SystemError_(f"System name {name!r}: use letters, digits, - and _, at most 80.")
    if System.every.filter(graph=graph, name=name).exists():  # private ones too
        raise SystemError_(f"Graph {graph.name} has a system {name} already: choose another name.")


def create_systems(
    graph: Graph,
    kinds: Sequence[str],
    overrides: Mapping[str, str],
    seeds: int = 1,
    device: str = "auto",
    best: bool = False,
) -> list[System]:
    """Make a system of each kind and seed, with settings for the graph's size; those that exist stay as they are.

    Seeds have names of their own (rotate, rotate-s1, …); with `best` all but the best by validation MRR are archived
    once they are trained. A setting goes to the kinds that have it; SystemError_ if no kind does.
    """
    from pooling.systems import get_system

    if seeds < 1:
        raise SystemError_(f"{seeds} seeds of each system: give 1 or more.")
    if best and seeds == 1:
        raise SystemError_(BEST_OF_ONE)
    systems = []
    with transaction.atomic():
        held(graph)
        for kind, own in settings_of_kinds(kinds, overrides).items():
            resolved, slug = resolve(graph, kind, own), get_system(kind).slug
            for seed in range(seeds):
                name = slug if seed == 0 else f"{slug}-s{seed}"
                system, made = System.every.get_or_create(  # a name is taken by private runs too
                    graph=graph,
                    name=name,
                    defaults={"kind": kind, "seed": seed, "settings": {**resolved, "device": device}},
                )
                if made:
                    system.artifact = f"systems/{system.pk}"
                    system.save(update_fields=["artifact"])
                elif system.is_imported:
                    refuse_imported(system, "trained")
                elif (system.kind, system.seed) != (kind, seed):
                    raise SystemError_(
                        f"System {name} of graph {graph.name} is a {system.kind} with seed {system.seed}, which "
                        f"somebody called so. Clone a {kind} under another name in the browser."
                    )
                else:
                    _settle(system, {key: resolved[key] for key in own}, resolved, device)
                systems.append(system)
        if best:
            System.objects.filter(pk__in=[system.pk for system in systems]).update(best_of_seeds=True)
    if best:
        for system in systems:  # those that are trained already may be all there are to choose from
            system.refresh_from_db()
            keep_best(system)
    return systems


def settings_of_kinds(kinds: Sequence[str], overrides: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return by kind, as the registry writes it, the settings that it takes; SystemError_ names an unknown kind."""
    from pooling.systems import get_system

    try:
        specs = {spec.name: spec for spec in map(get_system, kinds)}  # pykeen:CLASS as PyKEEN writes it
    except ValueError as error:
        raise SystemError_(str(error)) from error
    known = set().union(*(spec.settings for spec in specs.values()))
    return {
        kind: {key: value for key, value in overrides.items() if key in spec.settings or key not in known}
        for kind, spec in specs.items()
    }


def resolve(graph: Graph, kind: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preset for this graph with `overrides` put in; SystemError_ says what is wrong with them."""
    from pooling.systems import resolve_settings

    try:
        return dict(resolve_settings(kind, graph.num_entities, graph.num_train, dict(overrides)))
    except ValueError as error:
        raise SystemError_(str(error)) from error


def _settle(system: System, asked: Mapping[str, Any], resolved: Mapping[str, Any], device: str) -> None:
    """Change settings of an existing system; after its first epoch only the device may change."""
    begun = system.state == SystemState.TRAINED or system.epochs_done > 0
    had = with_neutral(system.settings)
    if begun and any(had.get(key) != value for key, value in asked.items()):
        raise SystemError_(
            f"System {system.name} of graph {system.graph.name} was trained with other settings, which stay with it. "
            "Leave the settings as they are to keep it, or clone it on its page and train the clone."
        )
    if system.state != SystemState.TRAINED:
        kept = resolved if asked and not begun else system.settings
        system.settings = {**kept, "device": device}
        system.save(update_fields=["settings"])


def get_systems(graph: Graph, names: Sequence[str] | None) -> list[System]:
    """Return the named systems of a graph, or all trained ones that are not archived; each must be trained.

    Imported runs hold some questions to some depth, so they are used only where they are named.
    """
    trained = {s.name: s for s in graph.systems.filter(state=SystemState.TRAINED).order_by("id")}
    if names is None:
        if not (usual := [s for s in trained.values() if not s.archived and not s.is_imported]):
            raise SystemError_(f"Graph {graph.name} has no trained system; run train_systems {graph.name} first.")
        return usual
    if missing := [name for name in names if name not in trained]:
        raise SystemError_(
            f"Graph {graph.name} has no trained system {', '.join(missing)}. Trained: {', '.join(trained) or 'none'}."
        )
    return [trained[name] for name in dict.fromkeys(names)]


def shown_systems(pool: Pool) -> QuerySet[System]:
    """Return the systems of the pool's graph; archived ones only if the pool uses them."""
    used = Q(archived=False) | Q(pk__in=pool.systems.values("pk"))
    return System.objects.filter(used, graph_id=pool.graph_id)


def systems_with_runs(pool: Pool) -> list[System]:
    """Return the systems that can be evaluated on the pool, oldest first."""
    return list(
        shown_systems(pool)
        .filter(state=SystemState.TRAINED, run__isnull=False)
        .select_related("run", "graph")
        .order_by("id")
    )


def family_of(system: System) -> str:
    """Return the family of a system, as given for imported ones; empty if not known. Does not import torch."""
    from pooling.systems import family_of_kind

    return str(system.settings["family"]) if system.is_imported else family_of_kind(system.kind)


def refuse_imported(system: System, what: str) -> None:
    """Raise SystemError_ for an imported system, which has a run but not the model that `what` needs."""
    if system.is_imported:
        raise SystemError_(
            f"{system.name} was imported as a run and its model is not here, so it cannot be {what}. "
            "Import another run under another name instead."
        )


def check_device(system: System, act: str = "trained") -> None:
    """Raise SystemError_ in a worker without the GPU that the system needs; other workers may have one."""
    import torch

    if system.settings.get("device") == "cuda" and not torch.cuda.is_available():
        raise SystemError_(
            f"{system.name} is to be {act} on a GPU, and PyTorch sees none at this worker: start a worker where "
            "there is one, or choose the device auto or cpu."
        )


def train(job: Job, progress: Progress) -> None:
    """Train job.system from its last checkpoint to the end; a trained one is left as it is."""
    assert job.system is not None
    train_system(job.system, progress)


def train_system(system: System, progress: Progress, on_epoch: OnEpoch | None = None) -> None:
    """Train a system from its last checkpoint to the end; `on_epoch(epoch, scorer)` is called after each epoch."""
    from pooling.learning.memory import peak_bytes, reset_peak

    refuse_imported(system, "trained")
    if system.state == SystemState.TRAINED:
        progress.log(f"{system.name} is trained already")
        keep_best(system)  # a worker may have died between the end of training and this
        return
    take_over(system)
    progress.log(f"training {system.name} with {system.settings}")
    check_device(system)
    reset_peak()
    with uploads(system, progress) as upload:
        end = _fit(system, progress, on_epoch, upload)
    peak = max(peak_bytes(end["device"]), system.peak_bytes or 0)  # of all attempts
    with fenced(brief=True):
        System.objects.filter(pk=system.pk).update(state=SystemState.TRAINED, peak_bytes=peak, **end)
    system.refresh_from_db()
    mrr = "" if system.validation_mrr is None else f", validation MRR {system.validation_mrr:.4f}"
    progress.log(f"best epoch {system.best_epoch}{mrr}")
    with fenced():
        best = keep_best(system)
    if best is not None:
        progress.log(f"{best.name} is the best of its seeds; the others are archived")


def _fit(system: System, progress: Progress, on_epoch: OnEpoch | None, upload: Callable[[], None]) -> dict[str, Any]:
    """Train a system and return the fields of its row; each epoch is written to the row when it ends.

    `upload` is called now and then, between two checkpoints.
    """
    from django.conf import settings

    from pooling.learning.loop import Diverged, Training, TrainingCancelled
    from pooling.learning.memory import estimate_bytes
    from pooling.systems import get_system
    from pooling.systems.spec import SystemSpec
    from pooling.training.trainers import trainer_of

    graph, hyper = open_graph(system.graph), dict(system.settings)
    device, folder, note = hyper.pop("device", "auto"), artifact_path(system.artifact), ""
    size = graph.num_entities, graph.num_relations
    try:
        spec = get_system(system.kind)
        if isinstance(spec, SystemSpec):
            needed = estimate_bytes(spec, *size, hyper, graph.train)
            progress.log(f"it needs about {in_words(needed)} of memory")
        asked = Training(
            system.kind,
            graph.train,
            graph.valid,
            *size,
            hyper,
            seed=system.seed,
            directory=folder,
            device=device,
            threads=settings.WORKER_THREADS,
            on_progress=_epoch_writer(system, progress, upload),
            should_stop=progress.should_stop,
        )
        result = trainer_of(system.kind)(replace(asked, on_epoch=on_epoch) if on_epoch else asked)
    except TrainingCancelled:
        raise JobCancelled from None
    except Diverged as error:
        if not error.best_epoch:
            raise SystemError_(f"Training stopped: {error}.") from error
        result, note = error.result, f"stopped: {error}."
    except ValueError as error:
        raise SystemError_(f"{error}.") from error
    except OSError as error:
        raise not_written(system, error) from error
    same = ("device", "epochs_done", "best_epoch", "validation_mrr", "history")
    fields = {name: getattr(result, name) for name in same}
    return {**fields, "train_seconds": result.seconds, "note": note, "sha256": sha256_of(folder / spec.weights)}


def _epoch_writer(system: System, progress: Progress, upload: Callable[[], None]) -> "Callable[[EpochReport], None]":
    """Return a callback that reports progress within an epoch and writes an epoch to the row when it ends."""
    seen: list[dict[str, float | None]] = []

    def tell(report: "EpochReport") -> None:
        done = report.epoch - 1 + report.fraction
        stage = report.words or f"epoch {report.epoch} of {report.epochs}, loss {report.loss:.4f}"
        if report.validation_mrr is not None:
            stage += f", validation MRR {report.validation_mrr:.3f}"
        progress.report(stage, int(done * 100), report.epochs * 100, "% of an epoch", report.seconds_left)
        if report.fraction >= 1:
            seen.append({"epoch": report.epoch, "loss": report.loss, "validation_mrr": report.validation_mrr})
            # an earlier attempt may have got further than its last checkpoint: those epochs are done again
            history = [epoch for epoch in system.history if epoch["epoch"] < seen[0]["epoch"]] + seen
            row = System.objects.filter(pk=system.pk)
            with fenced(brief=True):
                row.update(epochs_done=report.epoch, validation_mrr=report.best_mrr, history=history)
        upload()

    return tell
