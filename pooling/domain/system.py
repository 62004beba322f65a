"""Systems: made from the registry, trained as jobs, resumed from their checkpoints."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from pooling.artifacts import ArtifactError, artifact_path, sha256_of
from pooling.domain.graph import open_graph
from pooling.domain.job import JobCancelled, Progress, handles
from pooling.enums import JobKind, SystemState
from pooling.errors import UserError
from pooling.models import Graph, Job, System


class SystemError_(UserError):  # noqa: N801, N818 - SystemError is a builtin
    """A system does not exist, or cannot be made as asked."""


def create_systems(
    graph: Graph, kinds: Sequence[str], overrides: Mapping[str, str], seeds: int = 1, device: str = "auto"
) -> list[System]:
    """Rows for each kind and seed, settings resolved to the graph's size. Those that exist are returned as they are.

    With several seeds each gets a row of its own (rotate, rotate-s1, …); pools take what they are told to.
    """
    from pooling.systems import resolve_settings

    if seeds < 1:
        raise SystemError_(f"--seeds is {seeds}: give 1 or more.")
    systems = []
    with transaction.atomic():
        for kind in dict.fromkeys(kinds):
            try:
                resolved = resolve_settings(kind, graph.num_entities, graph.num_train, dict(overrides))
            except ValueError as error:
                raise SystemError_(str(error)) from error
            for seed in range(seeds):
                name = kind if seed == 0 else f"{kind}-s{seed}"
                system, made = System.objects.get_or_create(
                    graph=graph,
                    name=name,
                    defaults={"kind": kind, "seed": seed, "settings": {**resolved, "device": device}},
                )
                if made:
                    system.artifact = f"systems/{system.pk}"
                    system.save(update_fields=["artifact"])
                else:
                    _settle(system, {key: resolved[key] for key in overrides}, resolved, device)
                systems.append(system)
    return systems


def _settle(system: System, asked: Mapping[str, Any], resolved: Mapping[str, Any], device: str) -> None:
    """Settings of a system that exists: free until an epoch was trained with them, then only the device is."""
    begun = system.state == SystemState.TRAINED or system.epochs_done > 0
    if begun and any(system.settings.get(key) != value for key, value in asked.items()):
        raise SystemError_(
            f"System {system.name} of graph {system.graph.name} was trained with other settings, which stay with it. "
            "Leave --set away to keep it, or train another seed beside it with --seeds."
        )
    if system.state != SystemState.TRAINED:
        kept = resolved if asked and not begun else system.settings
        system.settings = {**kept, "device": device}
        system.save(update_fields=["settings"])


def get_systems(graph: Graph, names: Sequence[str] | None) -> list[System]:
    """The named systems of a graph, or all trained ones; each must be trained."""
    trained = {s.name: s for s in graph.systems.filter(state=SystemState.TRAINED).order_by("id")}
    if names is None:
        if not trained:
            raise SystemError_(
                f"Graph {graph.name} has no trained system; run train_systems {graph.name} first."
            )
        return list(trained.values())
    if missing := [name for name in names if name not in trained]:
        raise SystemError_(
            f"Graph {graph.name} has no trained system {', '.join(missing)}. Trained: {', '.join(trained) or 'none'}."
        )
    return [trained[name] for name in dict.fromkeys(names)]


def _check_device(system: System) -> None:
    """A GPU may be at another worker than this one, so that only the worker can tell."""
    import torch

    if system.settings.get("device") == "cuda" and not torch.cuda.is_available():
        raise SystemError_(
            f"{system.name} is to be trained on a GPU, and PyTorch sees none at this worker: start a worker where "
            "there is one, or train it with --device auto or --device cpu."
        )


@handles(JobKind.TRAIN)
def train(job: Job, progress: Progress) -> None:
    """Train job.system from its last checkpoint to the end; a trained one is left as it is."""
    from django.conf import settings

    from pooling.kernels.training import EpochReport, TrainingCancelled, train_system

    system = job.system
    assert system is not None
    if system.state == SystemState.TRAINED:
        progress.log(f"{system.name} is trained already")
        return
    System.objects.filter(pk=system.pk).update(state=SystemState.TRAINING)
    progress.log(f"training {system.name} with {system.settings}")
    _check_device(system)
    graph = open_graph(system.graph)
    hyper = dict(system.settings)
    device = hyper.pop("device", "auto")
    seen: list[dict[str, float | None]] = []

    def tell(report: EpochReport) -> None:
        done = report.epoch - 1 + report.fraction
        stage = f"epoch {report.epoch} of {report.epochs}, loss {report.loss:.4f}"
        if report.validation_mrr is not None:
            stage += f", validation MRR {report.validation_mrr:.3f}"
        progress.report(stage, int(done * 100), report.epochs * 100, "% of an epoch", report.seconds_left)
        if report.fraction >= 1:
            seen.append({"epoch": report.epoch, "loss": report.loss, "validation_mrr": report.validation_mrr})
            System.objects.filter(pk=system.pk).update(
                epochs_done=report.epoch, validation_mrr=report.best_mrr,
                # an earlier attempt may have got further than its last checkpoint: those epochs are done again
                history=[e for e in system.history if e["epoch"] < seen[0]["epoch"]] + seen,
            )  # fmt: skip

    try:
        result = train_system(
            system.kind, graph.train, graph.valid, graph.num_entities, graph.num_relations, hyper,
            seed=system.seed, device=device, directory=artifact_path(system.artifact),
            on_progress=tell, should_stop=progress.should_stop, threads=settings.WORKER_THREADS,
        )  # fmt: skip
    except TrainingCancelled:
        raise JobCancelled from None
    except OSError as error:
        raise ArtifactError(
            f"The checkpoint of {system.name} could not be written: {error.strerror or error}. The last whole one is "
            "still there: free some disk space, then start the job again."
        ) from error
    System.objects.filter(pk=system.pk).update(
        state=SystemState.TRAINED, device=result.device, epochs_done=result.epochs_done,
        best_epoch=result.best_epoch, validation_mrr=result.validation_mrr, train_seconds=result.seconds,
        history=result.history, sha256=sha256_of(artifact_path(system.artifact) / "best.pt"),
    )  # fmt: skip
    mrr = "" if result.validation_mrr is None else f", validation MRR {result.validation_mrr:.4f}"
    progress.log(f"best epoch {result.best_epoch}{mrr}")
