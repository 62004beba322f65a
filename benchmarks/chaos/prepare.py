"""Make what the site of a chaos campaign needs: python -m benchmarks.chaos.prepare PEOPLE ADJUDICATORS ITEMS.

It prints one line of JSON: the number of items, and the sessions of the people by name.
"""

import json
import sys
from typing import Any

import django

NAME = "chaos"  # of the graph, the pool and the campaign
DEPTH, PER_SEED = 20, 60  # of the pool; items that a seed brings, at least
MOST_SEEDS = 1300
UNDO_MINUTES = 1  # then disputes are decided soon


def prepare(people: int, adjudicators: int, items: int) -> dict[str, Any]:
    """Make graph, two systems, pool, campaign and people."""
    from django.core.management import call_command

    from annotation.campaigns.lifecycle import open_campaign
    from benchmarks.queue_load import make_people
    from core.enums import JobState
    from core.jobs.execution import execute
    from core.jobs.lifecycle import start_job
    from core.models import Job
    from pooling.enums import PoolingJob
    from pooling.graphs.bundled import FamilyOptions, family_tree
    from pooling.graphs.imports import import_graph
    from pooling.pools.build import create_pool
    from pooling.training.train import create_systems

    def do(job: Job) -> None:
        execute(job.pk, "prepare")
        job.refresh_from_db()
        if job.state != JobState.DONE:
            raise SystemExit(f"{job}: {job.error}")

    call_command("migrate", verbosity=0, skip_checks=True)
    family = FamilyOptions(families=7, density=0.5)
    graph = import_graph(NAME, family_tree(family), options={"family_tree": vars(family)})
    for system in create_systems(graph, ["distmult", "transe"], {"epochs": "2"}, device="cpu"):
        do(start_job(PoolingJob.TRAIN, system=system))
    seeds = min(MOST_SEEDS, 1 + items // PER_SEED)
    pool = create_pool(graph, name=NAME, filters=(), depth=DEPTH, count=seeds)
    do(start_job(PoolingJob.BUILD_POOL, pool=pool))
    pool.refresh_from_db()
    campaign = open_campaign(pool, seed=3)
    campaign.undo_minutes = UNDO_MINUTES
    campaign.save(update_fields=["undo_minutes"])
    made = [
        *make_people(campaign, people),
        *make_people(campaign, adjudicators, "adjudicator", "adjudicator"),
        *make_people(None, 1, "manager", "manager"),
    ]
    return {"items": campaign.items.count(), "sessions": {person.name: person.session for person in made}}


if __name__ == "__main__":
    django.setup()
    print(json.dumps(prepare(*map(int, sys.argv[1:4]))))
