"""Two people at the same moment, on the database of DATABASE_URL: test_races runs this as a program.

Prints one JSON object: scene -> what became of each act, its error in words where it was refused.
"""

import json
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evaluation.enums import EvaluationJob
from pooling.enums import PoolingJob
from tests.annotation.crowd import together  # sets Django up

# isort: split
from django.db import connection

from annotation.campaigns.lifecycle import open_campaign
from core.enums import JobState
from core.jobs import lifecycle as jobs
from core.jobs.lifecycle import retry, start_job
from core.models import Job
from evaluation.keeping import removal
from evaluation.labels.qrels import freeze_qrels
from evaluation.sections.figure_cache import current_figure
from evaluation.test_sets.export import request_export
from evaluation.test_sets.files import ExportOptions
from pooling.models import Graph, Pool, System
from pooling.pools import build as pools
from pooling.pools import growth
from pooling.pools.build import create_pool, freeze_pool
from pooling.pools.filtering import refilter_pool
from pooling.pools.growth import extend_pool
from tests.factories import make_job
from tests.pages.world import make_graph, make_pool, make_system

Act = Callable[[], Any]
HELD = 0.7  # seconds that the first one takes, so that the others come meanwhile


def what_became_of(act: Act) -> str:
    try:
        act()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "done"


def site(name: str) -> tuple[Graph, Pool, System, System]:
    """A graph with a pool of the first of two systems."""
    graph = make_graph(Path(tempfile.mkdtemp()), name)
    used, free = make_system(graph, "transe", run=False), make_system(graph, "distmult", run=False)
    return graph, make_pool(graph, f"{name}-pool", systems=[used]), used, free


def during(first: Act, pause: tuple[Any, str], *others: Act) -> list[str]:
    """What became of `first`, and of the others, who come while it is at a step of a module, its transaction open."""
    module, name = pause
    real, reached = getattr(module, name), threading.Event()

    def slow(*args: Any, **options: Any) -> Any:
        reached.set()
        threading.Event().wait(HELD)
        return real(*args, **options)

    became = [""] * (len(others) + 1)

    def run(place: int, act: Act) -> None:
        if place:
            assert reached.wait(30)
        became[place] = what_became_of(act)

    setattr(module, name, slow)
    try:
        together([lambda place=place, act=act: run(place, act) for place, act in enumerate([first, *others])])  # type: ignore[misc]
    finally:
        setattr(module, name, real)
    return became


def pool_goes() -> list[str]:
    _, pool, used, _ = site("one")
    job = make_job(EvaluationJob.EVALUATE, JobState.FAILED, pool=pool)
    qrels = freeze_qrels(pool, "v1")
    return during(
        lambda: removal.remove(pool, None, with_labels=True),
        (removal, "_clear_references"),
        lambda: start_job(EvaluationJob.EVALUATE, pool=pool, params={"a": 1}),
        lambda: start_job(PoolingJob.SCORE, pool=pool, system=used),
        lambda: retry(job),
        lambda: request_export(qrels, ExportOptions(), None),
        lambda: extend_pool(pool, systems=["distmult"]),
        lambda: freeze_qrels(pool, "v2"),
        lambda: open_campaign(pool),
        lambda: refilter_pool(pool, []),
        lambda: freeze_pool(pool),
        lambda: current_figure(pool, "a", "now", dict),
    )


def graph_goes() -> list[str]:
    graph, pool, _, free = site("two")
    return during(
        lambda: removal.remove(graph, None),
        (removal, "_clear_references"),
        lambda: start_job(PoolingJob.TRAIN, system=free),
        lambda: start_job(EvaluationJob.EVALUATE, pool=pool),
        lambda: create_pool(graph, name="new-one", sample=1.0),
    )


def job_comes_first() -> list[str]:
    """The job is there, its transaction is not over."""
    graph, pool, _, _ = site("three")
    became = during(
        lambda: start_job(EvaluationJob.EVALUATE, pool=pool),
        (jobs, "_send_on_commit"),
        lambda: removal.remove(pool, None),
        lambda: removal.remove(graph, None),
    )
    return without_number(became)


def without_number(became: list[str]) -> list[str]:
    return [text.replace(f"Job {Job.objects.latest('pk').pk} ", "The job ") for text in became]


def extension_comes_first() -> list[str]:
    """It names its new system in its params alone."""
    _, pool, _, free = site("four")
    became = during(
        lambda: extend_pool(pool, systems=["distmult"]), (growth, "record"), lambda: removal.remove(free, None)
    )
    return without_number(became)


def system_goes_before_an_extension() -> list[str]:
    _, pool, _, free = site("five")
    return during(
        lambda: removal.remove(free, None),
        (removal, "_clear_references"),
        lambda: extend_pool(pool, systems=["distmult"]),
    )


def one_name() -> list[str]:
    """Two who make a pool of one name: both have read that it is free."""
    graph, *_ = site("six")

    def make() -> None:
        create_pool(graph, name="same", sample=1.0)

    return sorted(during(make, (pools, "store_seeds"), make, make))


def main() -> None:
    scenes = (pool_goes, graph_goes, job_comes_first, extension_comes_first, system_goes_before_an_extension, one_name)
    print(json.dumps({"vendor": connection.vendor} | {scene.__name__: scene() for scene in scenes}))
