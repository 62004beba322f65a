"""Divide a long pass over questions into shards, which are parts of a job: any worker scores one.

A shard is a range of the pass's questions. The job writes the questions once (the plan), a shard writes its result
beside it, and the job joins the results to what one pass gives, to the same bits on a CPU.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from core.callbacks import Watch
from core.enums import JobState
from core.files.artifacts import artifact_path, writing
from core.files.storage import delete, local, publish
from core.jobs.fencing import working
from core.jobs.parts import do_parts, forget_parts
from core.models import Job
from pooling.enums import PoolingJob
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.models import System
from pooling.questions.kernel import Csr
from pooling.systems.shown_names import shown_name

LEAST = 4096  # questions of a shard
FACTS = 512  # of the train set for each question of a shard: finding the known answers takes no longer than scoring
# does a pass: (system, graph, keys int64[n], wanted or known entities of each question, watch, **settings) -> arrays
# by question or by entity, each along axis 0, and the device that scored
Pass = Callable[..., tuple[Any, str]]


class Scored(NamedTuple):
    """Hold the arrays of a pass by name, the devices that scored, and the parts that did, if it was divided."""

    arrays: dict[str, np.ndarray]
    devices: list[str]
    parts: list[Job]


def shard_size(graph: GraphArrays) -> int:
    """Return how many questions a shard has at most; a multiple of the 256 that are scored at a time."""
    return max(LEAST, len(graph.train) // FACTS // 256 * 256)


def is_divided(graph: GraphArrays, questions: int) -> bool:
    """Return whether a pass over this many questions is split into shards: only a long pass of a job is."""
    return questions > shard_size(graph) and working() is not None


def do_pass(
    act: str, do: Pass, system: System, graph: GraphArrays, keys: np.ndarray, wanted: Csr, watch: Watch, **settings: Any
) -> Scored:
    """Do a pass over questions (sorted keys int64[n]), or have it done in shards if a job is at work and it is long.

    Workers find `do` by `act`, a name of pooling/runs/shard_work.py. Give the result's parts to `forget` when they are
    stored.
    """
    size, at_work = shard_size(graph), working()
    if at_work is None or not is_divided(graph, len(keys)):
        result, device = do(system, graph, keys, wanted, watch, **settings)
        return Scored(result._asdict(), [device], [])
    plan = _planned(at_work[0], system, keys, wanted)
    ranges = [(start, min(start + size, len(keys))) for start in range(0, len(keys), size)]
    asked = [
        {"act": act, "plan": plan, "system": system.pk, "from": start, "to": end, **settings}
        | {"name": f"{shown_name(system.name)}, questions {start + 1:,} to {end:,} of {len(keys):,}"}
        for start, end in ranges
    ]
    sizes = [end - start for start, end in ranges]
    parts = do_parts(PoolingJob.SCORE_SHARD, asked, sizes, watch.tell)
    found = [_read(part) for part in parts]
    devices = sorted({str(one.pop("device")) for one in found})
    return Scored({name: np.concatenate([one[name] for one in found]) for name in found[0]}, devices, parts)


def forget(parts: Sequence[Job]) -> None:
    """Delete the shards of a pass, whose result is stored, and their files."""
    for reference in {part.params["plan"] for part in parts} | {result_of(part) for part in parts}:
        delete(reference)
    forget_parts(parts)


def read_plan(params: dict[str, Any]) -> tuple[np.ndarray, Csr]:
    """Return the keys int64[n] of a shard's questions, and the entities of each."""
    first, end = params["from"], params["to"]
    with np.load(local(params["plan"]) / "plan.npz") as plan:
        indptr = plan["indptr"][first : end + 1]
        return plan["keys"][first:end], Csr(indptr - indptr[0], plan["indices"][indptr[0] : indptr[-1]])


def write_result(job: Job, result: Any, device: str) -> None:
    """Write the arrays of a shard where the job that joins them looks."""
    reference = result_of(job)
    with writing(artifact_path(reference) / "result.npz") as aside, aside.open("wb") as file:
        np.savez(file, device=np.array(device), **result._asdict())
    publish(reference)


def result_of(part: Job) -> str:
    """Return where the last attempt of a shard wrote its result."""
    return f"{part.params['plan']}-{part.pk}-{part.attempts}"


def _read(part: Job) -> dict[str, np.ndarray]:
    assert part.state == JobState.DONE
    with np.load(local(result_of(part)) / "result.npz") as file:
        return {name: file[name] for name in file.files}


def _planned(job: Job, system: System, keys: np.ndarray, wanted: Csr) -> str:
    """Write the questions of a pass and return where; the same questions are in the same place."""
    content = hashlib.sha256(f"{system.pk} {system.sha256}".encode())
    for array in (keys, *wanted):
        content.update(np.ascontiguousarray(array).data)
    reference = f"parts/{job.pk}-{content.hexdigest()[:16]}"
    if not (path := local(reference) / "plan.npz").exists():
        with writing(path) as aside, aside.open("wb") as file:
            np.savez(file, keys=keys, **wanted._asdict())
        publish(reference)
    return reference
