"""The report of a pool adds up, and counts who found what."""

from __future__ import annotations

from collections import Counter

from evaluation.overview.counts import pool_report
from pooling.models import Pool
from pooling.pools.build import unpack_provenance
from pooling.pools.report import pool_overlap


def found_by(pool: Pool) -> list[set[str]]:
    return [
        {f.system for f in unpack_provenance(row.provenance, pool.contributors)} for row in pool.triples.order_by("id")
    ]


def test_a_report_adds_up(labelled: Pool):
    report = pool_report(labelled)
    states = [report[key] for key in ("positive", "negative", "assumed_negative", "unjudged")]
    assert sum(states) == report["seeds"] + report["pooled"]
    assert report["pooled"] == report["filtered"] + report["to_people"] == labelled.triples.count()
    assert sum(report["by_reason"].values()) == report["filtered"]
    assert sum(report["by_category"].values()) == sum(report["by_depth"].values()) == report["pooled"]
    assert list(report["by_depth"]) == ["1", "2", "3", "4", "5"]
    verdicts = Counter(labelled.judgements.values_list("verdict", flat=True))
    assert report["positive"] == report["seeds"] + verdicts["positive"]
    assert report["negative"] == verdicts["negative"]


def test_overlap_counts_triples_that_two_systems_found(labelled: Pool):
    report, found = pool_report(labelled), found_by(labelled)
    names = labelled.contributors
    assert report["overlap"] == {
        one: {other: sum({one, other} <= by for by in found) for other in names} for one in names
    }
    assert report["by_system"] == {name: sum(name in by for by in found) for name in names}
    assert report["only_by"] == {name: sum(by == {name} for by in found) for name in names}


def test_overlap_is_that_of_who_found_each_triple(labelled: Pool):
    shared, only = pool_overlap(labelled)
    names, found = labelled.contributors, found_by(labelled)
    assert shared.tolist() == [[sum({a, b} <= by for by in found) for b in names] for a in names]
    assert only.tolist() == [sum(by == {name} for by in found) for name in names]


def test_a_pool_without_provenance_has_no_systems_in_its_report(labelled: Pool):
    labelled.triples.update(provenance=b"")
    Pool.objects.filter(pk=labelled.pk).update(contributors=[])
    report = pool_report(Pool.objects.get(pk=labelled.pk))
    assert (report["by_system"], report["only_by"], report["overlap"]) == ({}, {}, {})
