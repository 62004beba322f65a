"""Make frozen qrels of the sizes that the export's targets name, and export one in a process of its own.

python benchmarks/export_scenes.py QRELS_ID FOLDER     on the site of the environment: seconds and peak memory
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

if TYPE_CHECKING:
    from evaluation.models import Qrels
    from pooling.models import Graph, Pool

Parts = list[list[tuple[int, int]]]  # places and ids of pooled triples, some at a time
BATCH = 50_000
LINK = "https://en.wikipedia.org/wiki/Special:Search?search="


class Exported(NamedTuple):
    """One export: seconds of the folder, of the archive from it (zip), processor seconds of both, peak memory in MiB,
    of which the interpreter had taken `idle` with all modules loaded; bytes and files of the folder."""

    folder: float
    archive: float
    cpu: float
    peak: float
    idle: float
    bytes: int
    files: int


def exported(qrels: Qrels, out: Path) -> Exported:
    """Export in a child, so that its memory is its own."""
    command = [sys.executable, __file__, str(qrels.pk), str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
    return Exported(**json.loads(done.stdout.splitlines()[-1]))


def real_pool(data: Path) -> Pool:
    """Make the published pool of FB15k-237 with its labels: 1,023 seeds and 21,469 pooled triples."""
    from annotation.judging.label_import import import_labels
    from pooling.graphs.imports import import_graph
    from pooling.graphs.tsv import read_tsv
    from pooling.pools.build import import_pool

    graph = import_graph("fb15k-237", read_tsv(data / "fb15k-237"), options={})
    folder = data / "fb-test-s"
    file, seeds_file = folder / "pool.tsv.gz", folder / "seed_triples.tsv"
    filters = ("category-head", "category-tail")
    pool = import_pool(graph, name="fb-test-s", filters=filters, file=file, seeds_file=seeds_file)
    import_labels(pool, folder / "human_labels.tsv.gz")
    return pool


def drawn_pool(graph: Graph, pooled: int, seeds: int, *, people: bool = False) -> Pool:
    """So many drawn triples, each found by two systems and judged: by one imported label with its link, or by two
    labels of two people here, one with a link."""
    from evaluation.labels.pool_table import triple_codes
    from pooling.graphs.opening import open_graph
    from pooling.models import Pool, SeedTriple
    from pooling.pools.kernels.gathering import PROVENANCE, Gathered
    from pooling.pools.rows import write_rows

    arrays, rng = open_graph(graph), np.random.default_rng(pooled)
    pool = Pool.objects.create(
        graph=graph,
        name=f"drawn-{'people' if people else 'labels'}-{pooled}",
        origin="imported",
        state="ready",
        depth=10,
        seed_source="drawn",
        contributors=["a", "b"],
    )
    chosen = arrays.test[:seeds]
    SeedTriple.objects.bulk_create(
        (SeedTriple(pool=pool, head=h, relation=r, tail=t) for h, r, t in chosen.tolist()), batch_size=5000
    )
    limits = arrays.num_entities, arrays.num_relations, arrays.num_entities
    triples = np.unique(rng.integers(0, limits, size=(pooled + pooled // 50, 3)), axis=0)
    known = np.concatenate([arrays.train, arrays.valid, arrays.test])
    own, others = (triple_codes(rows, arrays) for rows in (triples, known))
    triples = rng.permutation(triples[~np.isin(own, others)])[:pooled].astype(np.int32)
    findings = np.zeros(2 * pooled, dtype=PROVENANCE)
    findings["system"], findings["rank"] = np.tile([0, 1], pooled), rng.integers(1, 11, size=2 * pooled)
    gathered = Gathered(triples, np.full(pooled, 3), findings, np.arange(pooled + 1) * 2)
    write_rows(pool, gathered, np.full(pooled, "", dtype=object), np.arange(pooled))
    ids = list(pool.triples.order_by("id").values_list("pk", flat=True))
    parts = [list(enumerate(ids[start : start + BATCH], start)) for start in range(0, len(ids), BATCH)]
    (_label if people else _import)(pool, parts)
    _judge(pool, parts, "people" if people else "import")
    return pool


def _import(pool: Pool, parts: Parts) -> None:
    from annotation.models import ImportedLabel

    for part in parts:
        ImportedLabel.objects.bulk_create(
            (
                ImportedLabel(
                    triple_id=pk,
                    answer="YNN"[i % 3],
                    annotator=f"p{i % 40}",
                    source_url=f"{LINK}{i}",
                    file_name="drawn",
                    file_sha256="0" * 64,
                    line=i,
                )
                for i, pk in part
            ),
            batch_size=5000,
        )


def _label(pool: Pool, parts: Parts) -> None:
    from django.contrib.auth.models import User

    from annotation.models import Campaign, Item, Label, Slot
    from annotation.questions.templates import ensure_templates, templates_at

    campaign = Campaign.objects.create(pool=pool)
    ensure_templates(pool.graph)
    templates = templates_at(pool.graph)
    people = [User.objects.create(username=f"person{i}", password="!").pk for i in range(40)]
    of = dict(pool.triples.values_list("pk", "relation"))
    for part in parts:
        items = Item.objects.bulk_create(
            (
                Item(campaign=campaign, triple_id=pk, group=i // 10, order=i, side="tail", state="settled")
                for i, pk in part
            ),
            batch_size=5000,
        )
        for number in (1, 2):
            slots = Slot.objects.bulk_create(
                (
                    Slot(
                        item=item,
                        number=number,
                        state="answered",
                        annotator_id=people[(item.order + number) % 40],
                        template=templates[of[item.triple_id]],
                    )
                    for item in items
                ),
                batch_size=5000,
            )
            Label.objects.bulk_create(
                (
                    Label(
                        slot=slot,
                        item=slot.item,
                        annotator_id=people[(slot.item.order + number) % 40],
                        template=slot.template,
                        answer="YNN"[slot.item.order % 3],
                        client_id=uuid4(),
                        active_ms=2500,
                        source_url=f"{LINK}{slot.item.order}" if number == 1 else "",
                    )
                    for slot in slots
                ),
                batch_size=5000,
            )


def _judge(pool: Pool, parts: Parts, origin: str) -> None:
    from django.utils import timezone

    from annotation.models import Judgement

    now = timezone.now()
    for part in parts:
        Judgement.objects.bulk_create(
            (
                Judgement(
                    triple_id=pk, pool=pool, verdict="negative" if i % 3 else "positive", origin=origin, decided_at=now
                )
                for i, pk in part
            ),
            batch_size=5000,
        )


def draw_runs(pool: Pool, systems: Iterable[str]) -> None:
    """Store a run of each system with 100 candidates of every question of the pool, and a rank of every triple."""
    from benchmarks.rank_rows import draw_positions
    from benchmarks.scratch import draw_candidates
    from pooling.graphs.opening import open_graph
    from pooling.models import System
    from pooling.runs.files import Pass
    from pooling.runs.score import _questions_for, _store, wanted_triples
    from pooling.scoring.rank_rows import question_keys, row_keys, rows_of
    from pooling.scoring.ranks import RankingResult

    graph, rng = open_graph(pool.graph), np.random.default_rng(7)
    e, r = graph.num_entities, graph.num_relations
    wanted = np.unique(row_keys(rows_of(wanted_triples(pool, graph)), e, r))
    questions, csr = _questions_for(np.zeros(0, np.int64), wanted, graph)
    keys, n = question_keys(questions, e, r), len(questions.side)
    for name in systems:
        (position,) = draw_positions(np.repeat(np.arange(n), np.diff(csr.indptr)), 1, e, rng)
        (top,) = draw_candidates(n, 1, rng)
        score = np.broadcast_to(-np.arange(100, dtype=np.float32), top.shape)
        system = System.objects.create(graph=pool.graph, name=name, kind="transe", state="trained", artifact="none")
        raw = np.tile(np.arange(1, top.shape[1] + 1, dtype=np.int32), (n, 1))
        scored = RankingResult(top % e, score, raw, position, position, position)
        _store(system, None, graph, Pass(keys, csr, scored), 0, "cpu")


def main() -> None:
    """Export in the child process, and print what it took."""
    import django

    django.setup()
    import zipfile

    from benchmarks.pool import forget_peak, peak_bytes
    from evaluation.models import Qrels
    from evaluation.test_sets.export import _add, export_test_set

    qrels, out = Qrels.objects.select_related("pool__graph").get(pk=int(sys.argv[1])), Path(sys.argv[2])
    forget_peak()  # or it is that of the parent, which the child began as
    idle = (peak_bytes() or 0) / 2**20
    begin, cpu = time.perf_counter(), time.process_time()
    files = export_test_set(qrels, out)
    folder = time.perf_counter() - begin
    with zipfile.ZipFile(out.with_suffix(".zip"), "w") as archive:
        for file in files:
            _add(archive, file, file.relative_to(out).as_posix())
    found = Exported(
        folder,
        time.perf_counter() - begin - folder,
        time.process_time() - cpu,
        (peak_bytes() or 0) / 2**20,
        idle,
        sum(file.stat().st_size for file in files),
        len(files),
    )
    print(json.dumps(found._asdict()))


if __name__ == "__main__":
    main()
