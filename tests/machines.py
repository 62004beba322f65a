"""A step of test_machines: what one machine does, as a process of its own with its own artifact folder.

Prints what came of it as JSON.
"""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.contrib.auth.models import User  # noqa: E402

from core.files.artifacts import artifact_path, sha256_of  # noqa: E402
from core.files.storage import local  # noqa: E402
from core.jobs.execution import execute  # noqa: E402
from core.jobs.lifecycle import sweep  # noqa: E402
from core.models import Job  # noqa: E402
from evaluation.enums import EvaluationJob  # noqa: E402
from evaluation.labels.label_sets import label_set  # noqa: E402
from evaluation.labels.pool_table import pool_table  # noqa: E402
from evaluation.labels.qrels import freeze_qrels  # noqa: E402
from evaluation.measures.values import values  # noqa: E402
from evaluation.models import Export, Qrels  # noqa: E402
from evaluation.test_sets.export import request_export, zip_path  # noqa: E402
from evaluation.test_sets.files import ExportOptions  # noqa: E402
from pooling.enums import PoolingJob  # noqa: E402
from pooling.models import Graph, Pool, System  # noqa: E402
from pooling.pools.build import create_pool  # noqa: E402
from pooling.training import attempts  # noqa: E402
from pooling.training.train import create_systems  # noqa: E402
from tests.factories import judge_all, make_job, make_town  # noqa: E402

SETTINGS = {"embedding_dim": "4", "epochs": "6"}


def begin() -> dict[str, Any]:
    """Import a graph and ask for a training."""
    graph = make_town(Path(tempfile.mkdtemp()))
    (system,) = create_systems(graph, ["distmult"], SETTINGS, device="cpu")
    make_job(PoolingJob.TRAIN, system=system)
    return {"triples": graph.num_train}


def train() -> dict[str, Any]:
    return _done(PoolingJob.TRAIN)


def train_until_it_ends() -> dict[str, Any]:
    """Try again as workers do whenever the sweep queues the job."""
    told, tries, row = "", 1, Job.objects.filter(kind=PoolingJob.TRAIN)
    while (found := _done(PoolingJob.TRAIN))["state"] == "running":
        told = told or row.get().log.splitlines()[-1].partition(" ")[2]
        row.update(heartbeat_at=None)
        sweep()
        tries += 1
    return {"tries": tries, "told_at_once": told, **found}


def train_and_die() -> dict[str, Any]:
    """Be killed after the fourth epoch, with the checkpoints of each uploaded."""
    attempts.UPLOAD_SECONDS = 0.0
    real = System.objects.filter

    def filter(**given: Any) -> Any:
        if System.objects.get().epochs_done == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(**given)

    System.objects.filter = filter  # type: ignore[method-assign]
    return _done(PoolingJob.TRAIN)


def train_on() -> dict[str, Any]:
    """Go on where the machine that was killed was."""
    job = Job.objects.get(kind=PoolingJob.TRAIN)
    Job.objects.filter(pk=job.pk).update(state="queued")
    had = local(System.objects.get().artifact) / "checkpoint.pt"
    from pooling.scoring.checkpoints import read_checkpoint

    return {"epoch": read_checkpoint(had)["epoch"], **_done(PoolingJob.TRAIN)}


def build() -> dict[str, Any]:
    """Score the system and build a pool."""
    pool = create_pool(Graph.objects.get(), name="p", sample=0.5, seed=5, depth=5)
    make_job(PoolingJob.BUILD_POOL, pool=pool)
    _done(PoolingJob.BUILD_POOL)
    make_job(PoolingJob.SCORE, pool=pool, system=System.objects.get())
    return _done(PoolingJob.SCORE)


def measure() -> dict[str, Any]:
    """Label, evaluate, freeze, and export."""
    pool = Pool.objects.get()
    judge_all(pool)
    table = pool_table(pool)
    found = values(table.pool, label_set(pool, table, "current").state, ["micro_mrr", "macro_mrr", "map"])
    freeze_qrels(pool, "v1")
    _, job = request_export(Qrels.objects.get(), ExportOptions(), None)
    assert job is not None
    _done(EvaluationJob.EXPORT)
    return {name: of.mean().tolist() for name, of in found.items()}


def download() -> dict[str, Any]:
    """Read what the others made: the ranks of the run, the checkpoint, and the test set."""
    system, run = System.objects.get(), System.objects.get().run
    path = zip_path(Export.objects.get())
    assert path is not None and sha256_of(path) == Export.objects.get().sha256
    names = ("topk.parquet", "ranks.parquet", "predictive.npz", "validation.npz")
    return {name: sha256_of(local(run.artifact) / name) for name in names} | {"best.pt": system.sha256}


def _done(kind: str) -> dict[str, Any]:
    job = Job.objects.filter(kind=kind).latest("pk")
    assert execute(job.pk, f"machine:{os.getpid()}")
    job.refresh_from_db()
    return {"state": job.state, "error": job.error}


if __name__ == "__main__":
    step: Callable[[], dict[str, Any]] = globals()[sys.argv[1]]
    found = step()
    here = sorted(path.name for path in artifact_path("").iterdir()) if artifact_path("").exists() else []
    print(json.dumps({"found": found, "here": here, "people": User.objects.count()}))
