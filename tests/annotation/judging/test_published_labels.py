"""The published labels of FB15k-237's test sample: the paper's counts, and every irregular line named."""

from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings

from annotation.judging.label_import import import_labels
from pooling.graphs.imports import import_graph
from pooling.graphs.tsv import read_tsv
from pooling.pools.build import import_pool


@pytest.mark.data
def test_published_labels_give_the_published_counts(db) -> None:
    data = Path(settings.DATA_ROOT)
    folder = data / "fb-test-s"
    graph = import_graph("fb15k-237", read_tsv(data / "fb15k-237"), options={})
    pool = import_pool(
        graph,
        name="fb-test-s",
        file=folder / "pool.tsv.gz",
        seeds_file=folder / "seed_triples.tsv",
        filters=("category-head", "category-tail"),
    )
    report = import_labels(pool, folder / "human_labels.tsv.gz")
    assert (report.read, report.imported, report.known) == (12_599, 12_538, 0)
    assert (report.positive, report.negative, report.undecided) == (1_715, 10_797, 0)
    assert Counter(line.reason for line in report.skipped) == {"has no label": 61}
    kinds = Counter(
        next(kind for kind in ("stray space", "another label", "filter category") if kind in line.reason)
        for line in report.notes
    )
    assert kinds == {"another label": 26, "filter category": 6, "stray space": 2}
