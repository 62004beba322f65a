"""Interrupt a training by SIGTERM and by SIGKILL, and measure what is repeated.

    python benchmarks/interruption.py --quick         a minute: SIGKILL 20 s after the training goes on
    python benchmarks/interruption.py                 ten minutes; prints a table
    … --database-url postgresql://postgres@127.0.0.1:5432/test     on a database of its own on that server
    … --store                                         each machine has a disk of its own; a store is between them

One system is trained on FB15k-237, with settings that make an epoch last longer than the whole measurement: only
checkpoints within an epoch count. The first machine gets SIGTERM. The second one goes on, writes a checkpoint after
four minutes, and gets SIGKILL shortly before the next one is due: the worst moment. The third one takes the job again.
A machine is `manage.py work` with all its processes, with the settings of a site.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.processes import children_of  # noqa: E402
from benchmarks.report import Summary, machine  # noqa: E402
from benchmarks.scratch import scratch_site  # noqa: E402

if TYPE_CHECKING:
    from core.models import Job

# an epoch of 8,505 batches takes a quarter of an hour on one core
SLOW = {"embedding_dim": "512", "batch_size": "64", "num_negatives": "3000", "epochs": "2"}
BEFORE = 5.0  # seconds before the next checkpoint is due
PROMISED = 300.0


def say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


class Machine:
    """Workers of one machine; with a store, it has a disk of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.artifacts = folder / "artifacts"
        if "ARTIFACT_STORE" in os.environ:
            self.artifacts = folder / name
            environment["ARTIFACT_ROOT"] = str(self.artifacts)
        command = [sys.executable, "manage.py", "work", "--queues", "gpu", "--processes", "1"]
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=sys.stderr)

    def stop(self) -> float:
        """End it by SIGTERM; return how many seconds that takes."""
        begin = time.perf_counter()
        self.process.terminate()
        assert self.process.wait(timeout=60) == 0
        return time.perf_counter() - begin

    def kill(self) -> None:
        """End all its processes by SIGKILL, as a machine does that loses its power."""
        for pid in descendants(self.process.pid):  # the first one first: it would start the others again
            os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def checkpoint(self, folder: str) -> dict[str, Any]:
        """Return the checkpoint within the epoch, and when it was written (`at`)."""
        from pooling.scoring.checkpoints import WITHIN, read_checkpoint

        path = self.artifacts / folder / WITHIN
        return {**read_checkpoint(path), "at": path.stat().st_mtime}


def descendants(pid: int) -> list[int]:
    """Return a process and all that it started, oldest first."""
    return [pid, *(below for child in children_of(pid) for below in descendants(child))]


@dataclass
class Found:
    """What was measured, in seconds."""

    stopped: float  # from SIGTERM until the last process ended
    stop_written: float  # until the checkpoint was written
    stop_repeats: int  # batches
    stop_taken: float  # until another machine had the job
    kill_repeats: float
    kill_taken: float
    share: float  # of an epoch that was trained when the machine was killed


def taken(job: Job, attempts: int) -> float:
    """Wait until the job is at work for the `attempts`th time, and return the wall clock."""
    while True:
        job.refresh_from_db()
        assert job.state in ("queued", "running"), job.error
        if job.attempts >= attempts and job.state == "running":
            return time.time()
        time.sleep(0.05)


def trains(job: Job, *before: str) -> str:
    """Wait until an attempt has a folder other than those before it and trains there; return the folder."""
    from pooling.models import System

    while (folder := System.objects.get(pk=job.system_id).artifact) in before or not job.stage.startswith("epoch"):
        job.refresh_from_db()
        time.sleep(0.05)
    return folder


def measure(folder: Path, quick: bool) -> Found:
    from django.conf import settings

    from core.jobs.lifecycle import start_job
    from pooling.enums import PoolingJob
    from pooling.graphs.imports import import_graph
    from pooling.graphs.tsv import read_tsv
    from pooling.training.train import create_systems

    graph = import_graph("measured", read_tsv(settings.DATA_ROOT / "fb15k-237"), options={})
    (system,) = create_systems(graph, ["rotate"], SLOW, device="cpu")
    job = start_job(PoolingJob.TRAIN, system=system)
    machines: list[Machine] = []

    def new() -> Machine:
        machines.append(Machine(folder, f"machine-{len(machines)}"))
        return machines[-1]

    try:
        return interrupt(job, new, quick)
    finally:
        for one in machines:
            if one.process.poll() is None:
                one.kill()


def interrupt(job: Job, new: Callable[[], Machine], quick: bool) -> Found:
    from pooling.learning.loop import WITHIN_SECONDS

    assert job.system is not None
    first = new()
    taken(job, 1)
    one = trains(job, job.system.artifact)
    time.sleep(5 if quick else 30)
    asked = time.time()
    stopped = first.stop()
    kept = first.checkpoint(one)
    say(f"SIGTERM: ended after {stopped:.2f} s, with a checkpoint at batch {kept['batch']}")
    second = new()
    stop_taken = taken(job, 2) - asked
    two, begun = trains(job, one), time.time()
    goes_on = second.checkpoint(two)
    say(f"goes on at batch {goes_on['batch']}")
    if quick:
        time.sleep(20)
    else:
        while (last := second.checkpoint(two))["at"] <= begun:
            time.sleep(1)
        say(f"a checkpoint at batch {last['batch']}")
        time.sleep(max(last["at"] + WITHIN_SECONDS - BEFORE - time.time(), 0))
    last = second.checkpoint(two)
    job.refresh_from_db()
    share, killed = job.done / 100, time.time()
    second.kill()
    trained = last["seconds"] + killed - max(last["at"], begun)  # by the clock of the training
    say(f"SIGKILL: {killed - begun:.0f} s after it went on, at {share:.0%} of the epoch")
    third = new()
    kill_taken = taken(job, 3) - killed
    again = third.checkpoint(trains(job, two))
    say(f"at work again {kill_taken:.1f} s after SIGKILL, from batch {again['batch']}")
    third.stop()
    stop_repeats = kept["batch"] - goes_on["batch"]
    return Found(stopped, kept["at"] - asked, stop_repeats, stop_taken, trained - again["seconds"], kill_taken, share)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--database-url", default="", metavar="URL")
    parser.add_argument("--store", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as store:
        if arguments.store:
            os.environ["ARTIFACT_STORE"] = f"file://{store}"
        with scratch_site(arguments.database_url) as folder:
            found = measure(folder, arguments.quick)
    print(f"{machine()}, load {os.getloadavg()[0]:.1f} at the end\n\n| | s |\n|---|---:|")
    for field in fields(found):
        print(f"| {field.name} | {getattr(found, field.name):.2f} |")
    print(Summary("training that SIGKILL repeats", found.kill_repeats, "the promise", PROMISED))


if __name__ == "__main__":
    main()
