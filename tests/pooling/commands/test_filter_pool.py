"""filter_pool: what it prints, and what it refuses."""

from __future__ import annotations

import pytest
from django.core.management import CommandError
from django.utils import timezone

from core.models import AuditEntry
from pooling.models import Pool
from pooling.pools.kernels.filters import DEFAULT_FILTERS, FILTERS
from pooling.pools.report import pool_counts


def test_filter_pool_prints_what_each_filter_took(pool, run):
    before = list(pool.triples.order_by("id").values_list("reason", flat=True))
    out, _ = run("filter_pool", "p", "--filters", "types,category-tail,self-answer")
    after, counts = list(pool.triples.order_by("id").values_list("reason", flat=True)), pool_counts(pool)
    changed = sum(a != b for a, b in zip(before, after, strict=True))
    assert counts["by_reason"]["types"] > 0 and counts["by_reason"]["category-tail"] > 0
    assert out.splitlines() == [
        *(f"  {name:16}{after.count(name):>9,}" for name in ("types", "category-tail", "self-answer")),
        f"p: {len(after)} pooled triples, {counts['filtered']} filtered, {counts['to_people']} to people; "
        f"{changed} changed their reason",
    ]
    assert Pool.objects.get().filters == ["types", "category-tail", "self-answer"]
    assert AuditEntry.objects.get(act="pool-filtered").person is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["q", "--filters", "none"], "There is no pool 'q'. Pools: p."),
        (
            ["p", "--filters", "all"],
            f"--filters: unknown filter 'all': the known filters are {', '.join([*FILTERS, 'category', 'none'])}",
        ),
        (["p", "--filters", ","], "--filters is empty: name some, or none for a pool that people judge whole."),
        (["p"], "Error: the following arguments are required: --filters"),
        (["p", "--filters", "none"], "Pool p is frozen: its filters stay as they are."),
    ],
)
def test_filter_pool_refuses(pool, run, arguments, message):
    Pool.objects.update(frozen_at=timezone.now())
    with pytest.raises(CommandError) as caught:
        run("filter_pool", *arguments)
    assert str(caught.value) == message
    assert Pool.objects.get().filters == list(DEFAULT_FILTERS)
