"""Score a shard: a part of a job that scores, done by any worker (pooling/runs/shards.py)."""

from core.jobs.progress import Progress
from core.models import Job
from pooling.graphs.opening import open_graph
from pooling.models import System
from pooling.runs.distributions import predict_here
from pooling.runs.score import rank_here
from pooling.runs.shards import Pass, read_plan, write_result

ACTS: dict[str, Pass] = {"rank": rank_here, "predict": predict_here}
_OWN = {"act", "plan", "system", "from", "to", "name"}  # what is no setting of the pass


def run_shard(job: Job, progress: Progress) -> None:
    """Score the questions of a shard (params: as ordered in pooling/runs/shards.py) and write the result."""
    system = System.objects.select_related("graph").get(pk=job.params["system"])
    keys, wanted = read_plan(job.params)
    settings = {name: value for name, value in job.params.items() if name not in _OWN}
    watch = progress.watch(f"scoring {system.name}", "questions")
    found, device = ACTS[job.params["act"]](system, open_graph(system.graph), keys, wanted, watch, **settings)
    write_result(job, found, device)
