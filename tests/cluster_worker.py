"""A machine of test_cluster: a Celery worker with small shards, or with `step NAME`, an act of the web machine.

It is slow on purpose: an epoch takes EPOCH_SECONDS longer, and a shard the seconds that the file PACE says. The epochs
that it trains and the shards that it begins are lines of the file DEEDS. QUEUE is the only queue of its jobs.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from core.files.artifacts import sha256_of  # noqa: E402
from core.files.storage import local  # noqa: E402
from core.jobs.execution import execute  # noqa: E402
from core.jobs.lifecycle import start_job  # noqa: E402
from core.jobs.progress import Progress  # noqa: E402
from core.jobs.registry import HANDLERS, JOB_TYPES  # noqa: E402
from core.models import Job  # noqa: E402
from evaluation.labels.label_sets import label_set  # noqa: E402
from evaluation.labels.pool_table import pool_table  # noqa: E402
from evaluation.labels.qrels import freeze_qrels  # noqa: E402
from evaluation.measures.values import values  # noqa: E402
from evaluation.models import Export, Qrels, Terms  # noqa: E402
from evaluation.test_sets.export import request_export, zip_path  # noqa: E402
from evaluation.test_sets.files import ExportOptions  # noqa: E402
from pooling.enums import PoolingJob  # noqa: E402
from pooling.models import Graph, Pool, Run, System  # noqa: E402
from pooling.pools.build import create_pool  # noqa: E402
from pooling.runs import shard_work, shards  # noqa: E402
from pooling.training import attempts, train  # noqa: E402
from pooling.training.train import create_systems  # noqa: E402

KINDS = ("transe", "distmult", "complex")
EPOCHS = 16
FROZEN_AT = datetime(2040, 1, 1, tzinfo=UTC)  # later than all that is made here


# -- the worker -------------------------------------------------------------------------------------------------


def deed(*words: object) -> None:
    with Path(os.environ["DEEDS"]).open("a") as file:
        file.write(json.dumps(words) + "\n")


def slow_shard(job: Job, progress: Progress) -> None:
    place = job.params["plan"].rpartition("-")[2], job.params["from"]
    deed("shard", job.params["act"], job.params["system"], *place)
    end = time.monotonic() + float(Path(os.environ["PACE"]).read_text())
    while time.monotonic() < end:
        progress.check()
        time.sleep(0.05)
    shard_work.run_shard(job, progress)


def slow_epochs(system: System, progress: Progress, upload: Callable[[], None]) -> Callable[[Any], None]:
    tell = epoch_writer(system, progress, upload)

    def slowly(report: Any) -> None:
        if report.fraction >= 1:
            deed("epoch", system.pk, report.epoch)
        tell(report)
        if report.fraction >= 1:
            time.sleep(float(os.environ["EPOCH_SECONDS"]))

    return slowly


epoch_writer = train._epoch_writer


def become_a_worker() -> None:
    shards.LEAST = 256
    attempts.UPLOAD_SECONDS = 0.0
    train._epoch_writer = slow_epochs
    HANDLERS[PoolingJob.SCORE_SHARD] = slow_shard


def use_own_queue() -> None:
    for kind, one in JOB_TYPES.items():
        JOB_TYPES[kind] = one._replace(queue=os.environ["QUEUE"])


# -- steps of the web machine -----------------------------------------------------------------------------------


def begin() -> None:
    """Import the graph and ask for the training of its systems."""
    from tests.factories import make_umls

    asked = {"embedding_dim": "8", "epochs": str(EPOCHS), "batch_size": "128"}
    for system in create_systems(make_umls(), KINDS, asked, device="cpu"):
        start_job(PoolingJob.TRAIN, system=system)


def build() -> None:
    """Ask for a pool of all test triples."""
    pool = create_pool(Graph.objects.get(), name="p", sample=1.0, seed=5, depth=5)
    start_job(PoolingJob.BUILD_POOL, pool=pool)


def label() -> dict[str, list[float]]:
    """Judge the pool, evaluate, freeze, and ask for the export; return the values of all questions."""
    from tests.factories import judge_all

    pool = Pool.objects.get()
    judge_all(pool)
    table = pool_table(pool)
    found = values(table.pool, label_set(pool, table, "current").state, ["micro_mrr", "macro_mrr", "map"])
    freeze_qrels(pool, "v1")
    # the export names the time of freezing, and another run has another
    Qrels.objects.update(created_at=FROZEN_AT)
    Terms.objects.update(created_at=FROZEN_AT)
    request_export(Qrels.objects.get(), ExportOptions(), None)
    return {name: of.mean().tolist() for name, of in found.items()}


def download() -> dict[str, dict[str, str]]:
    """Return the checksums of all that was made: the export and what is in it, the runs, and the models."""
    path = zip_path(Export.objects.get())
    assert path is not None
    if keep := os.environ.get("KEEP"):
        Path(keep).write_bytes(path.read_bytes())
    runs = {}
    for run in Run.objects.select_related("system"):
        for file in sorted(local(run.artifact).rglob("[!.]*")):
            runs[f"{run.system.name}/{file.name}"] = sha256_of(file)
    models = {system.name: sha256_of(local(system.artifact) / "best.pt") for system in System.objects.all()}
    return {"export": {"zip": sha256_of(path)}, "runs": runs, "models": models}


def alone() -> dict[str, Any]:
    """Do everything in this process."""
    begin()
    _do_queued()
    build()
    _do_queued()
    figures = label()
    _do_queued()
    assert not Job.objects.exclude(state="done").exists(), list(Job.objects.values_list("state", "error"))
    return {"figures": figures, **download()}


def _do_queued() -> None:
    for pk in Job.objects.filter(state="queued").order_by("id").values_list("pk", flat=True):
        assert execute(pk, "alone:1")


if __name__ == "__main__":
    use_own_queue()
    if sys.argv[1] == "step":
        step: Callable[[], Any] = globals()[sys.argv[2]]
        print(json.dumps(step()))
    else:
        become_a_worker()
        from celery.__main__ import main

        sys.argv[0] = "celery"
        sys.exit(main())
