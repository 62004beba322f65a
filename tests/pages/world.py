"""A small site to look at: names that must be escaped, systems, a pool, a campaign, people, jobs."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from pathlib import Path

import numpy as np
from django.contrib.auth.hashers import get_hasher, make_password
from django.contrib.auth.models import Group, User
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Campaign, Membership, Webhook
from core.enums import JobState
from core.models import Job, Worker
from core.people.roles import CampaignRole
from evaluation.open_world.study import SMALL, create_study
from pooling.enums import PoolingJob, PoolOrigin, PoolState, SystemState
from pooling.graphs.imports import import_graph
from pooling.graphs.tsv import read_tsv
from pooling.models import Graph, Pool, PooledTriple, Run, SeedTriple, System
from pooling.pools.kernels.gathering import PROVENANCE

EVIL = "<script>alert(1)</script>"
PEOPLE = ("ada", "ben", "cleo", "dora", "emil", EVIL)


def make_graph(folder: Path, name: str = "town") -> Graph:
    """Six people of a town; one has a label that would be a script if a page did not escape it."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        *((f"p{i}", "knows", f"p{(i + 1) % 6}") for i in range(6)),
        *((f"p{i}", "knows", f"p{(i + 2) % 6}") for i in range(6)),
        *((f"p{i}", "lives in", "town") for i in range(6)),
    ]
    test = [("p0", "knows", "p3"), ("p1", "knows", "p4")]
    files = {"train": rows, "valid": [("p2", "knows", "p5")], "test": test}
    for split, triples in files.items():
        (folder / f"{split}.tsv").write_text("".join("\t".join(row) + "\n" for row in triples))
    labels = [*((f"p{i}", label) for i, label in enumerate(PEOPLE)), ("town", "Town")]
    (folder / "entity_labels.tsv").write_text("".join("\t".join(row) + "\n" for row in labels))
    return import_graph(name, read_tsv(folder), options={})


def make_system(graph: Graph, name: str, *, run: bool = True, **fields: object) -> System:
    history = [{"epoch": e, "loss": 2 / e, "validation_mrr": 0.4 - 0.3 / e} for e in range(1, 11)]
    values = {
        "kind": name.partition("-")[0],
        "state": SystemState.TRAINED,
        "artifact": "systems/x",
        "history": history,
        "epochs_done": 10,
        "best_epoch": 10,
        "validation_mrr": 0.37,
        "train_seconds": 83.5,
        "device": "cpu",
        "settings": {"embedding_dim": 64, "epochs": 10},
    }
    system = System.objects.create(graph=graph, name=name, **{**values, **fields})
    if run:
        Run.objects.create(
            system=system, artifact="runs/x", sha256="0" * 64, depth=100, num_questions=4, num_rank_rows=40
        )
    return system


def make_pool(graph: Graph, name: str = "town-pool", *, systems: list[System] | None = None) -> Pool:
    """Two seeds, four triples to people, one of each filter; imported if there are no systems."""
    systems = systems or []
    names = [system.name for system in systems]
    pool = Pool.objects.create(
        graph=graph,
        name=name,
        depth=10,
        seed_source="sample 1 of test, seed 42",
        contributors=names,
        origin=PoolOrigin.BUILT if systems else PoolOrigin.IMPORTED,
        state=PoolState.READY,
        filters=["category-head", "category-tail", "types"],
    )
    pool.systems.set(systems)
    knows, lives = 0, 1
    SeedTriple.objects.bulk_create([SeedTriple(pool=pool, head=h, relation=knows, tail=h + 3) for h in (0, 1)])
    found = np.array([(i, i % 2, i + 1) for i in range(len(names))], dtype=PROVENANCE).tobytes()
    people = [(0, knows, 4, ""), (0, knows, 5, ""), (1, knows, 5, ""), (1, knows, 0, "")]
    dropped = [(6, knows, 3, "types"), (5, lives, 1, "category-tail"), (4, lives, 2, "category-head")]
    PooledTriple.objects.bulk_create(
        PooledTriple(pool=pool, head=h, relation=r, tail=t, depth=1 + i, provenance=found, reason=reason)
        for i, (h, r, t, reason) in enumerate([*people, *dropped])
    )
    return pool


@cache
def _hashed(hasher: str) -> str:
    """Hashing is slow by design: once is enough for all tests that hash in the same way."""
    return make_password("look around here", hasher=hasher)


def make_person(name: str, *, site: str = "", campaign: Campaign | None = None, role: str = "") -> User:
    person = User.objects.create(username=name, password=_hashed(get_hasher("default").algorithm))
    if site:
        person.groups.add(Group.objects.get_or_create(name=site)[0])
    if campaign is not None:
        Membership.objects.create(campaign=campaign, person=person, role=role, consented_at=timezone.now())
    return person


def make_job(kind: str = PoolingJob.TRAIN, state: JobState = JobState.RUNNING, **fields: object) -> Job:
    values = {
        "stage": "epoch 4 of 10, loss 0.5000, validation MRR 0.325",
        "done": 350,
        "total": 1000,
        "seconds_left": 65.0,
        "unit": "% of an epoch",
        "log": "12:00:00 training rotate\n",
        "worker": "host-1",
        "attempts": 1,
        "started_at": timezone.now() - timedelta(seconds=35),
        "heartbeat_at": timezone.now(),
    }
    if state == JobState.QUEUED:
        values |= {"stage": "", "done": 0, "total": 0, "seconds_left": None, "started_at": None, "attempts": 0}
    return Job.objects.create(kind=kind, state=state, **{**values, **fields})


def make_worker() -> Worker:
    return Worker.objects.create(name="host-1", queues="cpu,gpu", seen_at=timezone.now())


def make_world(folder: Path) -> dict[str, object]:
    """Everything once, and one person of each role."""
    graph = make_graph(folder)
    systems = [make_system(graph, name) for name in ("transe", "rotate", "complex")]
    pool = make_pool(graph, systems=systems)
    campaign = open_campaign(pool)
    make_job(PoolingJob.BUILD_POOL, JobState.DONE, pool=pool)
    create_study("town-study", SMALL)
    return {
        "graph": graph,
        "pool": pool,
        "campaign": campaign,
        "job": make_job(system=systems[1]),
        "webhook": Webhook.objects.create(url="https://hooks.example.org/x", events=["job-ended"], salt="0" * 32),
        "manager": make_person("manager", site="manager"),
        "researcher": make_person("researcher", site="researcher"),
        "annotator": make_person("annotator", campaign=campaign, role=CampaignRole.ANNOTATOR),
        "adjudicator": make_person("adjudicator", campaign=campaign, role=CampaignRole.ADJUDICATOR),
    }
