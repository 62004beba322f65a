"""Other filters for a pool that is there, what is left out without one, and the published pool of FB15k-237."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from core.enums import JobState
from core.models import AuditEntry
from evaluation.enums import EvaluationJob
from evaluation.labels.pool_table import pool_table, ranks_version
from pooling.enums import PoolingAct, PoolingJob, PoolState
from pooling.errors import PoolError
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool
from pooling.pools.build import import_pool, unpack_provenance
from pooling.pools.filtering import filter_counts, left_out, refilter_pool, why_filters_stay, why_types_idle
from pooling.pools.kernels.filters import DEFAULT_FILTERS, FILTERS
from pooling.pools.report import pool_counts
from pooling.pools.seeds import seed_array
from tests.factories import make_job, make_person, make_pool

TYPES = ["types", "types-entailed", "self-answer"]


def reasons(pool: Pool) -> list[str]:
    return list(pool.triples.order_by("id").values_list("reason", flat=True))


def everything_else(pool: Pool) -> list[tuple]:
    return [
        (*row[:-1], bytes(row[-1]))
        for row in pool.triples.order_by("id").values_list("id", "head", "relation", "tail", "depth", "provenance")
    ]


@pytest.mark.parametrize("names", [[], TYPES, ["types"], list(FILTERS)], ids=str)
def test_filtered_anew_is_filtered_as_if_built_so(pool: Pool, names: list[str]):
    """Also back again: the reasons follow from the stored findings alone."""
    other, before, rows = make_pool(pool.graph, "other", filters=names), reasons(pool), everything_else(pool)
    changed = refilter_pool(pool, names)
    assert reasons(pool) == reasons(other)
    assert changed == sum(a != b for a, b in zip(before, reasons(pool), strict=True))
    assert everything_else(pool) == rows
    assert Pool.objects.get(pk=pool.pk).filters == pool.filters == names
    refilter_pool(Pool.objects.get(pk=pool.pk), DEFAULT_FILTERS)
    assert reasons(pool) == before


def test_an_imported_pool_without_provenance_is_filtered_anew_by_its_seed_questions(pool: Pool, tmp_path: Path):
    graph = open_graph(pool.graph)

    def line(triple: tuple[int, int, int], *more: str) -> str:
        h, r, t = triple
        return "\t".join([graph.entities[h], graph.relations[r], graph.entities[t], *more]) + "\n"

    triples = list(pool.triples.order_by("id").values_list("head", "relation", "tail"))
    (tmp_path / "pool.tsv").write_text("".join(line(t, "1") for t in triples))
    (tmp_path / "seeds.tsv").write_text("".join(line(tuple(t)) for t in seed_array(pool).tolist()))
    files = {"file": tmp_path / "pool.tsv", "seeds_file": tmp_path / "seeds.tsv"}
    copy = import_pool(pool.graph, name="copy", filters=[], **files)
    assert refilter_pool(copy, ["category-head", "category-tail"]) > 0
    assert reasons(copy) == reasons(import_pool(pool.graph, name="again", filters=copy.filters, **files))


def test_a_preview_counts_what_would_be_and_changes_nothing(pool: Pool):
    before = reasons(pool)
    counts = filter_counts(pool, TYPES)
    assert reasons(pool) == before
    refilter_pool(pool, TYPES)
    assert counts == {name: reasons(pool).count(name) for name in [*TYPES, ""]}
    assert list(counts) == [*TYPES, ""]
    assert filter_counts(pool, []) == {"": len(before)}


def test_who_filtered_anew_is_in_the_log(pool: Pool):
    person = make_person("mina", "manager")
    refilter_pool(pool, ["types"], person)
    entry = AuditEntry.objects.get(act=PoolingAct.POOL_FILTERED)
    filtered = sum(reason != "" for reason in reasons(pool))
    assert (entry.person, entry.pool) == (person, pool)
    assert entry.about == f"types: {filtered} of {len(reasons(pool))} filtered"
    refilter_pool(pool, [])
    assert AuditEntry.objects.first().about == f"none: 0 of {len(reasons(pool))} filtered"


def test_figures_follow_other_filters(pool: Pool):
    version, filtered = ranks_version(pool), pool_table(pool).filtered.sum()
    assert filtered == sum(reason != "" for reason in reasons(pool))
    refilter_pool(pool, [])
    assert ranks_version(Pool.objects.get(pk=pool.pk)) != version
    assert pool_table(Pool.objects.get(pk=pool.pk)).filtered.sum() == 0


def open_its_campaign(pool: Pool) -> None:
    open_campaign(pool)


def freeze(pool: Pool) -> None:
    Pool.objects.filter(pk=pool.pk).update(frozen_at=timezone.now())


def fail(pool: Pool) -> None:
    Pool.objects.filter(pk=pool.pk).update(state=PoolState.FAILED)


def extend(pool: Pool) -> None:
    make_job(PoolingJob.EXTEND_POOL, JobState.QUEUED, pool=pool)


@pytest.mark.parametrize(
    ("happened", "message"),
    [
        (open_its_campaign, "Pool p has a campaign: people judge what its filters left, so they stay as they are."),
        (freeze, "Pool p is frozen: its filters stay as they are."),
        (fail, "Pool p is failed: its filters can be changed once it is ready."),
        (extend, "Pool p is being built or extended: change its filters when that job is done."),
    ],
)  # fmt: skip
def test_filters_stay_and_say_why(pool: Pool, happened, message):
    assert why_filters_stay(pool) == ""
    happened(pool)
    before = reasons(pool)
    with pytest.raises(PoolError) as caught:
        refilter_pool(pool, [])  # as it was read before: the row in the database counts
    assert str(caught.value) == message
    assert (reasons(pool), Pool.objects.get(pk=pool.pk).filters) == (before, list(DEFAULT_FILTERS))
    assert not AuditEntry.objects.filter(act=PoolingAct.POOL_FILTERED).exists()


def test_jobs_of_another_kind_or_that_have_ended_do_not_matter(pool: Pool):
    make_job(PoolingJob.EXTEND_POOL, JobState.DONE, pool=pool)
    make_job(EvaluationJob.EVALUATE, JobState.RUNNING, pool=pool)
    assert why_filters_stay(pool) == ""


def test_a_change_that_breaks_half_way_changes_nothing(pool: Pool, monkeypatch):
    from pooling.pools import filtering as filters

    def fail(*args: object, **kwargs: object) -> None:
        raise OSError("disk full")

    before = reasons(pool)
    monkeypatch.setattr(filters, "record", fail)
    with pytest.raises(OSError, match="disk full"):
        refilter_pool(pool, [])
    assert (reasons(pool), Pool.objects.get(pk=pool.pk).filters) == (before, list(DEFAULT_FILTERS))


def test_known_facts_and_repeated_findings_are_counted(pool: Pool):
    graph, seeds = open_graph(pool.graph), set(map(tuple, seed_array(pool).tolist()))
    tail_questions, head_questions = {s[:2] for s in seeds}, {s[1:] for s in seeds}
    facts = set(map(tuple, np.concatenate([graph.train, graph.valid, graph.test]).tolist())) - seeds
    known = sum((fact[:2] in tail_questions) + (fact[1:] in head_questions) for fact in facts)
    findings = sum(len(unpack_provenance(row.provenance, pool.contributors)) for row in pool.triples.all())
    assert left_out(pool) == (known, findings - pool.triples.count())
    assert known > 0 and findings > pool.triples.count()


def test_repeated_lines_of_an_import_are_duplicates(pool: Pool, tmp_path: Path):
    """Two findings in the file, one without any, and a line that repeats it."""
    (tmp_path / "seeds.tsv").write_text("per son 0\tlives in\tcity 0\n")
    lines = ["per son 0\tlives in\tcity 3\t1\ta:tail:1;b:tail:2", *["50%\tlives in\tcity 0\t1"] * 2]
    (tmp_path / "pool.tsv").write_text("\n".join(lines))
    copy = import_pool(pool.graph, name="copy", file=tmp_path / "pool.tsv", seeds_file=tmp_path / "seeds.tsv")
    assert left_out(copy).duplicates == 2


# -- the published pool -----------------------------------------------------------------------------------------

# where a label was published although the category rule takes the triple
LABELLED_ALTHOUGH_FILTERED = {
    ("Harvard Business School", "student", "John F. Kennedy", "category-head", "Y"),
    ("University of Virginia School of Law", "student", "George W. Bush", "category-head", "N"),
    ("University of Virginia School of Law", "student", "John F. Kennedy", "category-head", "N"),
    ("Wayne State University", "student", "George W. Bush", "category-head", "N"),
    ("Congo", "featured_film_locations", "Detroit", "category-tail", "N"),
    ("Spy Game", "country", "South Africa", "category-tail", "N"),
}


def test_types_say_where_they_can_take_nothing(town: Graph):
    graph = open_graph(town)
    assert any(graph.types) and any(graph.domains)
    untyped = replace(graph, types=[()] * graph.num_entities)
    undeclared = replace(graph, domains=[""] * graph.num_relations, ranges=[""] * graph.num_relations)
    why = {name: why_types_idle(of, ["category-head", "types"]) for name, of in (("e", untyped), ("r", undeclared))}
    assert "no types of entities" in why["e"] and "no domain and no range" in why["r"]
    assert "“type entailed from train not consistent with the relation” needs none" in why["e"]
    assert why_types_idle(graph, ["types"]) == "" == why_types_idle(untyped, ["types-entailed", "category-head"])


@pytest.mark.data
@pytest.mark.django_db
def test_what_each_filter_takes_of_the_published_pool():
    """Figures of docs/pooling.md. Labels are those of the published file, '' where it has none."""
    from pooling.graphs.imports import import_graph
    from pooling.graphs.tsv import read_tsv
    from pooling.pools.files import read_tsv as lines_of

    data = Path(settings.DATA_ROOT)
    pool = import_pool(
        import_graph("fb15k-237", read_tsv(data / "fb15k-237"), options={}),
        name="published",
        file=data / "fb-test-s" / "pool.tsv.gz",
        seeds_file=data / "fb-test-s" / "seed_triples.tsv",
        filters=["category-head", "category-tail"],
    )
    graph = open_graph(pool.graph)
    labels = {
        tuple(fields[:3]): fields[3].strip() for _, fields in lines_of(data / "fb-test-s" / "human_labels.tsv.gz")
    }
    rows = list(pool.triples.order_by("id").values_list("head", "relation", "tail", "reason"))
    triples = [(graph.entities[h], graph.relations[r], graph.entities[t]) for h, r, t, _ in rows]
    published = [row[3] for row in rows]

    assert pool_counts(pool)["by_reason"] == {"category-head": 1565, "category-tail": 7337}
    assert (sum(map(bool, published)), published.count("")) == (8902, 12_567)
    differ = {
        (graph.label(h), graph.relations[r].rpartition("/")[2], graph.label(t), reason, labels[triple])
        for (h, r, t, reason), triple in zip(rows, triples, strict=True)
        if reason and triple in labels
    }
    assert differ == LABELLED_ALTHOUGH_FILTERED
    people = [triple for triple, reason in zip(triples, published, strict=True) if not reason]
    assert all(triple in labels for triple in people)
    assert Counter(labels[triple] for triple in people) == {"N": 10_792, "Y": 1714, "": 61}

    def alone(name: str) -> tuple[int, Counter[str]]:
        """How many a filter alone takes, and the labels of those among them that the category rule left to people."""
        refilter_pool(pool, [name])
        takes = reasons(pool)
        left = Counter(
            labels[triple] for triple, why, before in zip(triples, takes, published, strict=True) if why and not before
        )
        return sum(map(bool, takes)), left

    assert alone("types") == (0, Counter())
    assert alone("types-entailed") == (7169, Counter({"N": 1676, "Y": 168, "": 51}))
    assert alone("types-both") == (7169, Counter({"N": 1676, "Y": 168, "": 51}))
    assert alone("self-answer") == (428, Counter({"N": 298, "Y": 5, "": 1}))

    # the default: no types are declared, so the category rule and self-answers
    refilter_pool(pool, DEFAULT_FILTERS)
    assert pool_counts(pool)["by_reason"] == {"category-head": 1565, "category-tail": 7337, "self-answer": 304}

    # what no pool holds: of train, of valid, and the 8,827 of unsampled test
    assert left_out(pool) == (86_314 + 8025 + 8827, 0)
