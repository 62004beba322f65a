"""A town with odd names to train on in no time, and systems trained once a session that every test may have.

The town has one relation of each category, types that some triples contradict, and a question that has no
candidate left because everything answers it.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from django.contrib.auth.models import Group, User
from django.utils import timezone

from annotation.enums import JudgementOrigin, Verdict
from annotation.models import Judgement
from core.enums import JobState
from core.files.artifacts import artifact_path, sha256_of
from core.jobs.progress import Progress
from core.models import Job
from pooling.enums import PoolingJob, SystemState
from pooling.graphs.bundled import read_pykeen
from pooling.graphs.imports import import_graph
from pooling.graphs.opening import open_graph
from pooling.graphs.tsv import read_tsv
from pooling.models import Graph, Pool, PooledTriple, System
from pooling.pools.build import build_pool, create_pool

KINDS = ("transe", "distmult", "complex")
SMALL = {"embedding_dim": 8, "epochs": 2}
ODD = ["per son 0", "50%", "a:b", "ü/é", 'q"7"', "x+y&z"]  # keys of the first people
PEOPLE = [*ODD, *(f"p{i}" for i in range(6, 20))]
CITIES = [f"city {i}" for i in range(5)]
COUNTRIES = ["north land", "south land"]

Names = tuple[str, str, str]
_kept: list[TemporaryDirectory[str]] = []  # they go when the session does


def town() -> dict[str, list[Names]]:
    """Train, valid and test triples by name, the same every time."""
    rng = np.random.default_rng(5)
    knows = [(a, "knows", b) for a in PEOPLE for b in PEOPLE if a != b]
    rng.shuffle(knows)
    knows = [(str(h), str(r), str(t)) for h, r, t in knows]
    lives = [(p, "lives in", CITIES[i % 5]) for i, p in enumerate(PEOPLE)]
    has = [(COUNTRIES[i % 2], "has city", c) for i, c in enumerate(CITIES)]
    everything = [*PEOPLE, *CITIES, *COUNTRIES]
    sees = [("p19", "sees", e) for e in everything]  # nothing is left to ask for in (p19, sees, ?)
    sees += [(p, "sees", c) for p in PEOPLE[:6] for c in CITIES[:3]]
    capital = [("city 0", "capital of", "north land"), ("city 1", "capital of", "south land")]
    return {
        "train": [*knows[:110], *lives[2:], *has[:4], *capital[:1], *sees[2:], *capital[1:]],
        "valid": [*knows[110:120], sees[1]],
        "test": [*knows[120:150], *lives[:2], has[4], sees[0]],
    }


def write_town(folder: Path) -> Path:
    """The town as a TSV folder with types, domains and ranges; one person has no type."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, rows in town().items():
        (folder / f"{split}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    types = [(p, "person") for p in PEOPLE[:-1]] + [(c, "city") for c in CITIES]
    types += [(c, "country") for c in COUNTRIES]
    (folder / "entity_types.tsv").write_text("".join(f"{e}\t{t}\n" for e, t in types))
    (folder / "relation_domain_range.tsv").write_text(
        "knows\tperson\tperson\nlives in\tperson\tcity\nhas city\tcountry\tcity\n"
    )
    (folder / "entity_labels.tsv").write_text("p7\tThe {seventh}\n")
    return folder


def make_town(folder: Path, name: str = "town") -> Graph:
    return import_graph(name, read_tsv(write_town(folder)), options={})


def make_umls() -> Graph:
    return import_graph("umls", read_pykeen("UMLS"), options={})


@cache
def _trained(kind: str, graph_name: str, key: tuple[int, int, int], seed: int) -> Path:
    """Folder with the checkpoint of a system, trained once a session; `key` is there for the cache only."""
    from pooling.learning.loop import Training, train_system

    graph = open_graph(Graph.objects.get(name=graph_name))
    _kept.append(TemporaryDirectory(prefix="triplepool-systems-"))
    folder = Path(_kept[-1].name)
    train_system(
        Training(
            kind,
            graph.train,
            graph.valid,
            graph.num_entities,
            graph.num_relations,
            settings_of(kind, graph_name),
            seed=seed,
            directory=folder,
            threads=1,
            device="cpu",
        )
    )
    return folder


def settings_of(kind: str, graph_name: str) -> dict[str, int | float | str]:
    from pooling.systems import resolve_settings

    graph = Graph.objects.get(name=graph_name)
    return resolve_settings(kind, graph.num_entities, graph.num_train, SMALL)


def make_system(graph: Graph, kind: str, *, seed: int = 0, trained: bool = True) -> System:
    """A trained system in the artifact folder of the test; without `trained` one that waits."""
    name = kind if seed == 0 else f"{kind}-s{seed}"
    system = System.objects.create(
        graph=graph, name=name, kind=kind, seed=seed, settings={**settings_of(kind, graph.name), "device": "cpu"}
    )
    system.artifact = f"systems/{system.pk}"
    if trained:
        counts = (graph.num_entities, graph.num_relations, graph.num_train)
        shutil.copytree(_trained(kind, graph.name, counts, seed), artifact_path(system.artifact))
        system.state = SystemState.TRAINED
        system.sha256 = sha256_of(artifact_path(system.artifact) / "best.pt")
        system.epochs_done = system.best_epoch = 2
        system.device = "cpu"
        system.validation_mrr = 0.25
    system.save()
    return system


def make_systems(graph: Graph, kinds: Sequence[str] = KINDS) -> list[System]:
    return [make_system(graph, kind) for kind in kinds]


def make_job(kind: str, state: JobState = JobState.QUEUED, **fields: object) -> Job:
    return Job.objects.create(kind=kind, state=state, **{"heartbeat_at": timezone.now(), **fields})


def progress_of(pool: Pool) -> Progress:
    """What a job of the pool would hand to its work."""
    return Progress(make_job(PoolingJob.BUILD_POOL, JobState.DONE, pool=pool))


def make_pool(graph: Graph, name: str = "p", **options: object) -> Pool:
    """A pool that was built by the graph's trained systems, in the way of the job."""
    pool = create_pool(graph, name=name, **{"sample": 0.5, "seed": 5, "depth": 5, **options})  # type: ignore[arg-type]
    build_pool(pool, progress_of(pool))
    return pool


def judge(triple: PooledTriple, verdict: str) -> None:
    """What people decided of a pooled triple, from now on."""
    Judgement.objects.update_or_create(
        triple=triple,
        defaults={
            "pool": triple.pool,
            "verdict": Verdict(verdict),
            "origin": JudgementOrigin.PEOPLE,
            "decided_at": timezone.now(),
        },
    )


def judge_all(pool: Pool, seed: int = 1) -> dict[int, str]:
    """Verdicts for most triples that people judge and for two that filters took; by triple id."""
    rng = np.random.default_rng(seed)
    given = {}
    for triple in pool.triples.filter(reason="").order_by("id"):
        if rng.random() < 0.8:
            given[triple.pk] = str(rng.choice(["positive", "negative", "negative", "undecided"]))
    for triple, verdict in zip(pool.triples.exclude(reason="").order_by("id"), ("positive", "negative"), strict=False):
        given[triple.pk] = verdict
    for triple in pool.triples.filter(pk__in=given):
        judge(triple, given[triple.pk])
    return given


def names_of(graph: Graph, triple: Sequence[int]) -> Names:
    arrays = open_graph(graph)
    head, relation, tail = triple
    return arrays.entities[head], arrays.relations[relation], arrays.entities[tail]


def make_person(name: str, site: str = "") -> User:
    person = User.objects.create(username=name)
    person.set_unusable_password()
    person.save()
    if site:
        person.groups.add(Group.objects.get_or_create(name=site)[0])
    return person
