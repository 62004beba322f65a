"""Pools, from seeds to filtered triples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.conf import settings as django_settings

from core.jobs.execution import execute
from core.models import Job
from pooling.enums import PoolingJob, PoolState
from pooling.errors import PoolError
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, PooledTriple, SeedTriple
from pooling.pools import scoring
from pooling.pools.build import build_pool, create_pool, get_pool, import_pool, seed_array, unpack_provenance
from pooling.pools.report import pool_counts, pool_families
from pooling.questions.kernel import questions_of
from pooling.runs.distributions import has_predictive
from pooling.runs.files import read_ranks, read_topk
from pooling.runs.score import wanted_triples
from pooling.scoring.rank_rows import question_keys, row_keys, rows_of
from pooling.training.train import SystemError_
from tests.factories import make_job, make_pool, make_systems, names_of, progress_of, town

Triple = tuple[int, int, int]


def literal_pool(pool: Pool) -> dict[Triple, list[tuple[str, str, int]]]:
    """Triple -> findings, from the stored candidates by a loop."""
    graph = open_graph(pool.graph)
    questions, _, _ = questions_of(seed_array(pool))
    keys = question_keys(questions, graph.num_entities, graph.num_relations).tolist()
    found: dict[Triple, list[tuple[str, str, int]]] = {}
    for system in pool.systems.order_by("id"):
        topk = read_topk(system.run)
        lists = dict(zip(topk.keys.tolist(), topk.entity.tolist(), strict=True))
        for i, key in enumerate(keys):
            side, given, relation = (int(column[i]) for column in questions)
            for rank, entity in enumerate(lists.get(key, [])[: pool.depth], 1):
                if entity >= 0:
                    triple = (entity, relation, given) if side else (given, relation, entity)
                    found.setdefault(triple, []).append((system.name, ("tail", "head")[side], rank))
    return found


def stored(pool: Pool) -> dict[Triple, PooledTriple]:
    return {(t.head, t.relation, t.tail): t for t in pool.triples.all()}


# -- building ---------------------------------------------------------------------------------------------------


def test_a_pool_holds_the_first_candidates_of_every_system_and_who_found_them(pool: Pool):
    expected, triples = literal_pool(pool), stored(pool)
    assert set(triples) == set(expected)
    for triple, findings in expected.items():
        row = triples[triple]
        assert [tuple(f) for f in unpack_provenance(row.provenance, pool.contributors)] == findings
        assert row.depth == min(rank for _, _, rank in findings) <= pool.depth
    assert (pool.state, pool.contributors) == (PoolState.READY, ["transe", "distmult", "complex"])


def test_known_facts_are_never_pooled(pool: Pool):
    """Train, valid, the seeds, and above all the test triples that were not sampled."""
    graph = open_graph(pool.graph)
    known = set(map(tuple, np.concatenate([graph.train, graph.valid, graph.test]).tolist()))
    assert known.isdisjoint(stored(pool))
    assert 0 < pool.seeds.count() < len(graph.test)


def test_a_question_without_candidates_pools_nothing_of_another(pool: Pool):
    graph = open_graph(pool.graph)
    sees = graph.relation_index["sees"]
    assert pool.seeds.filter(relation=sees).count() == 1  # its tail question: everything answers it
    sides = {
        finding.side
        for row in pool.triples.filter(relation=sees)
        for finding in unpack_provenance(row.provenance, pool.contributors)
    }
    assert sides == {"head"}


def test_every_filter_takes_what_its_rule_says(pool: Pool):
    graph = open_graph(pool.graph)
    types = {entity: (kinds or ("",))[0] for entity, kinds in zip(graph.entities, graph.types, strict=True)}
    wanted = {"knows": ("person", "person"), "lives in": ("person", "city"), "has city": ("country", "city")}
    seen = set()
    for triple, row in stored(pool).items():
        head, relation, tail = names_of(pool.graph, triple)
        sides = {finding.side for finding in unpack_provenance(row.provenance, pool.contributors)}
        domain, range_ = wanted.get(relation, ("", ""))
        expected = ""
        if relation == "has city" and "head" in sides:
            expected = "category-head"
        elif relation == "lives in" and "tail" in sides:
            expected = "category-tail"
        elif (domain and types[head] not in ("", domain)) or (range_ and types[tail] not in ("", range_)):
            expected = "types"
        elif head == tail and relation != "sees":  # train: p19 sees p19
            expected = "self-answer"
        assert row.reason == expected, (head, relation, tail, sides)
        seen.add(expected)
    assert seen == {"", "category-head", "category-tail", "types", "self-answer"}


def test_without_filters_everything_goes_to_people(trained: Graph):
    pool = make_pool(trained, filters=[])
    counts = pool_counts(pool)
    assert (counts["filtered"], counts["by_reason"], counts["to_people"]) == (0, {}, counts["pooled"])


def test_counts_add_up(pool: Pool):
    counts = pool_counts(pool)
    assert counts["seeds"] == pool.seeds.count() == 17
    assert counts["pooled"] == pool.triples.count() == counts["filtered"] + counts["to_people"]
    assert sum(counts["by_reason"].values()) == counts["filtered"]
    assert sum(counts["by_category"].values()) == counts["pooled"]
    assert set(counts["by_category"]) == {"1-N", "N-1", "N-N"}


def test_rank_rows_of_everything_pooled_and_all_test_triples_are_there(pool: Pool):
    graph = open_graph(pool.graph)
    e, r = graph.num_entities, graph.num_relations
    triples = np.array([*stored(pool), *map(tuple, graph.test.tolist())])
    wanted = set(row_keys(rows_of(triples), e, r).tolist())
    for system in pool.systems.all():
        assert set(read_ranks(system.run).keys.tolist()) == wanted


def test_built_twice_it_is_the_same_pool(pool: Pool):
    before = list(pool.triples.order_by("id").values("id", "head", "relation", "tail", "depth", "reason"))
    runs = list(pool.systems.order_by("id").values_list("run__sha256", flat=True))
    build_pool(Pool.objects.get(pk=pool.pk), progress_of(pool))
    assert list(pool.triples.order_by("id").values(*before[0])) == before
    assert list(pool.systems.order_by("id").values_list("run__sha256", flat=True)) == runs


def test_a_build_that_was_killed_after_storing_half_starts_over(pool: Pool):
    before = {triple: bytes(row.provenance) for triple, row in stored(pool).items()}
    pool.triples.filter(depth__gt=2).delete()
    Pool.objects.filter(pk=pool.pk).update(state=PoolState.BUILDING)
    build_pool(Pool.objects.get(pk=pool.pk), progress_of(pool))
    assert {triple: bytes(row.provenance) for triple, row in stored(pool).items()} == before


def test_another_pool_on_the_same_graph_extends_the_runs_and_leaves_the_first(pool: Pool):
    before = {triple: (row.pk, bytes(row.provenance)) for triple, row in stored(pool).items()}
    other = make_pool(pool.graph, name="other", seed=9, sample=0.3, depth=3, systems=["complex", "transe"])
    assert {triple: (row.pk, bytes(row.provenance)) for triple, row in stored(pool).items()} == before
    assert other.contributors == ["complex", "transe"]
    expected = {triple: sorted(findings) for triple, findings in literal_pool(other).items()}
    assert {
        triple: sorted(tuple(f) for f in unpack_provenance(row.provenance, other.contributors))
        for triple, row in stored(other).items()
    } == expected


def test_the_order_of_contributors_is_the_order_of_their_findings(trained: Graph):
    """Provenance holds indices into the names as they were asked for, not into the systems by id."""
    pool = make_pool(trained, systems=["complex", "transe", "distmult"])
    assert pool.contributors == ["complex", "transe", "distmult"]
    expected = literal_pool(pool)
    for triple, row in stored(pool).items():
        got = [tuple(f) for f in unpack_provenance(row.provenance, pool.contributors)]
        assert sorted(got) == sorted(expected[triple])


# -- refused ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 101}, "Depth 101: a run holds the first 100 candidates of a question; give 1 to 100."),
        ({"depth": 0}, "Depth 0: a run holds the first 100 candidates of a question; give 1 to 100."),
        ({"sample": 0.0}, "Sample 0.0: give a share of the test triples above 0 and at most 1."),
        ({"sample": 1.5}, "Sample 1.5: give a share of the test triples above 0 and at most 1."),
        ({"name": "a b"}, "Pool name 'a b': use letters, digits, - and _, at most 80."),
        ({"name": "x" * 81}, f"Pool name '{'x' * 81}': use letters, digits, - and _, at most 80."),
    ],
)
def test_a_pool_that_cannot_be_made_is_refused_and_leaves_nothing(trained: Graph, options, message):
    with pytest.raises(PoolError) as caught:
        create_pool(trained, **{"name": "p", **options})
    assert str(caught.value) == message
    assert not Pool.objects.exists()


def test_an_unknown_system_is_refused_with_those_that_are_trained(trained: Graph):
    with pytest.raises(SystemError_) as caught:
        create_pool(trained, name="p", systems=["transe", "rotate"])
    assert str(caught.value) == ("Graph town has no trained system rotate. Trained: transe, distmult, complex.")


def test_a_graph_without_trained_systems_has_no_pool(town: Graph):
    with pytest.raises(SystemError_, match="Graph town has no trained system; run train_systems town first"):
        create_pool(town, name="p")


def test_a_name_that_is_taken_is_refused(pool: Pool):
    with pytest.raises(PoolError) as caught:
        create_pool(pool.graph, name="p")
    assert str(caught.value) == "There is a pool 'p' already: choose another name, or go on with that one."


def test_an_unknown_pool_is_refused_with_those_that_are_there(pool: Pool):
    with pytest.raises(PoolError) as caught:
        get_pool("q")
    assert str(caught.value) == "There is no pool 'q'. Pools: p."
    assert get_pool("p") == pool


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("params", [{}, {"predictive": False}])
def test_the_job_makes_distributions_last_unless_it_is_told_not_to(trained: Graph, monkeypatch, params):
    pool = create_pool(trained, name="p", sample=0.5, seed=5, depth=5)
    ranked: list[set[int]] = []
    predict = scoring.ACTS["distributions"]

    def after_the_ranks(*args: object) -> None:
        wanted = len(np.unique(row_keys(rows_of(wanted_triples(pool, open_graph(trained))), 27, 5)))
        ranked.append({wanted - len(read_ranks(system.run).keys) for system in trained.systems.all()})
        predict(*args)  # type: ignore[arg-type]

    monkeypatch.setitem(scoring.ACTS, "distributions", after_the_ranks)
    job = make_job(PoolingJob.BUILD_POOL, pool=pool, params=params)
    execute(job.pk, "w")
    assert Job.objects.get(pk=job.pk).error == ""
    assert ranked == ([] if params else [{0}, {0}, {0}])
    triples = wanted_triples(pool, open_graph(trained))
    assert {has_predictive(system.run, triples) for system in trained.systems.all()} == {not params}


@pytest.mark.django_db(transaction=True)
def test_a_pool_of_which_everything_is_known_fails_and_says_so(trained: Graph, tmp_path: Path):
    """The tail question of its only seed has no candidate; the head question's are cut off at depth by hand."""
    (tmp_path / "seeds.tsv").write_text("p19\tsees\tper son 0\n")
    pool = create_pool(trained, name="empty", seeds_file=tmp_path / "seeds.tsv")
    make_everything_known(trained)
    job = make_job(PoolingJob.BUILD_POOL, pool=pool)
    execute(job.pk, "w")
    job = Job.objects.get(pk=job.pk)
    assert (job.state, job.error) == (
        "failed",
        "Pool empty is empty: no system returned a candidate that is not known already.",
    )
    pool.refresh_from_db()
    assert (pool.state, pool.triples.count()) == (PoolState.FAILED, 0)


def make_everything_known(graph: Graph) -> None:
    """Pretend that every (?, sees, per son 0) is a test triple of the graph in memory."""
    from dataclasses import replace

    from pooling.graphs import opening

    arrays = open_graph(graph)
    sees, first = arrays.relation_index["sees"], arrays.entity_index["per son 0"]
    more = np.array([[h, sees, first] for h in range(arrays.num_entities)], dtype=np.int32)
    for key in [k for k in opening._opened if k[1] == graph.sha256]:
        opening._opened[key] = replace(arrays, test=np.unique(np.concatenate([arrays.test, more]), axis=0))


# -- seeds ------------------------------------------------------------------------------------------------------


def test_a_sample_is_seeded_and_from_test(trained: Graph):
    graph = open_graph(trained)
    pools = [create_pool(trained, name=f"p{i}", sample=0.5, seed=seed) for i, seed in enumerate((5, 5, 6))]
    seeds = [set(map(tuple, seed_array(pool).tolist())) for pool in pools]
    assert seeds[0] == seeds[1] != seeds[2]
    assert all(s <= set(map(tuple, graph.test.tolist())) for s in seeds)
    assert pools[0].seed_source == "sample 0.5 of test, seed 5"


def test_seeds_of_a_file_are_those_in_its_order(trained: Graph, tmp_path: Path):
    chosen = [town()["test"][i] for i in (3, 0, 31)]
    (tmp_path / "seeds.tsv").write_text("".join("\t".join(row) + "\r\n" for row in chosen) + "\n")
    pool = create_pool(trained, name="p", seeds_file=tmp_path / "seeds.tsv")
    assert [names_of(trained, seed) for seed in seed_array(pool).tolist()] == chosen
    assert pool.seed_source == "seeds.tsv"


def test_a_bad_seed_file_makes_nothing(trained: Graph, tmp_path: Path):
    good, train = "\t".join(town()["test"][0]), "\t".join(town()["train"][0])
    (tmp_path / "s.tsv").write_text(f"{good}\n{train}\nx\tknows\tp7\np7\tknows\n{good}\n")
    with pytest.raises(PoolError) as caught:
        create_pool(trained, name="p", seeds_file=tmp_path / "s.tsv")
    assert str(caught.value).splitlines() == [
        "s.tsv:2: is not a test triple of the graph; seeds are sampled from test",
        "s.tsv:3: the graph does not have head 'x'",
        "s.tsv:4: has 2 columns where head, relation, tail are 3",
        "s.tsv:5: repeats line 1",
        "Correct the seed file; nothing was made.",
    ]
    assert not Pool.objects.exists() and not SeedTriple.objects.exists()


# -- made elsewhere ---------------------------------------------------------------------------------------------


def test_an_exported_pool_comes_back_as_it_was(pool: Pool, tmp_path: Path):
    lines = []
    for triple, row in stored(pool).items():
        findings = ";".join(
            f"{f.system}:{f.side}:{f.rank}" for f in unpack_provenance(row.provenance, pool.contributors)
        )
        lines.append("\t".join([*names_of(pool.graph, triple), str(row.depth), findings]))
    (tmp_path / "pool.tsv").write_text("\n".join(lines) + "\n")
    seeds = ["\t".join(names_of(pool.graph, seed)) for seed in seed_array(pool).tolist()]
    (tmp_path / "seeds.tsv").write_text("\n".join(seeds))
    copy = import_pool(pool.graph, name="copy", file=tmp_path / "pool.tsv", seeds_file=tmp_path / "seeds.tsv")
    assert (copy.state, copy.origin, copy.depth, copy.report) == ("ready", "imported", 5, [])
    assert sorted(copy.contributors) == sorted(pool.contributors)

    def content(of: Pool) -> dict[Triple, tuple[object, ...]]:
        return {
            triple: (row.depth, row.reason, sorted(unpack_provenance(row.provenance, of.contributors)))
            for triple, row in stored(of).items()
        }

    assert content(copy) == content(pool)
    assert pool_counts(copy) == pool_counts(pool)


def test_a_pool_without_provenance_is_filtered_by_the_seed_questions_it_answers(trained: Graph, tmp_path):
    (tmp_path / "seeds.tsv").write_text("per son 0\tlives in\tcity 0\nnorth land\thas city\tcity 4\n")
    lines = {
        "per son 0\tlives in\tcity 3": "category-tail",  # answers the tail question of an N-1 relation
        "50%\tlives in\tcity 0": "",  # answers its head question
        "south land\thas city\tcity 4": "category-head",  # answers the head question of a 1-N relation
        "north land\thas city\tcity 1": "",  # answers its tail question
        "p7\tlives in\tp8": "types",  # answers neither; a person is no city
        "p7\tlives in\tcity 1": "",
    }
    (tmp_path / "pool.tsv").write_text("".join(f"{line}\t1\n" for line in lines))
    pool = import_pool(trained, name="p", file=tmp_path / "pool.tsv", seeds_file=tmp_path / "seeds.tsv")
    assert {"\t".join(names_of(trained, t)): row.reason for t, row in stored(pool).items()} == lines


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "Pool p is empty: its file has no lines."),
        ("x\tknows\tp7\t1\n", "Pool p is empty: no line of its file can be pooled (unknown entity or relation: 1)."),
    ],
)  # fmt: skip
def test_an_import_of_nothing_is_refused(trained: Graph, tmp_path: Path, content, message):
    (tmp_path / "seeds.tsv").write_text("\t".join(town()["test"][0]))
    (tmp_path / "pool.tsv").write_text(content)
    with pytest.raises(PoolError) as caught:
        import_pool(trained, name="p", file=tmp_path / "pool.tsv", seeds_file=tmp_path / "seeds.tsv")
    assert str(caught.value) == message
    assert not Pool.objects.exists()


@pytest.mark.data
@pytest.mark.django_db
def test_the_published_pool_and_its_labels_give_the_published_counts():
    from annotation.judging.label_import import import_labels
    from evaluation.overview.counts import pool_report
    from pooling.graphs.imports import import_graph
    from pooling.graphs.tsv import read_tsv

    data = Path(django_settings.DATA_ROOT)
    graph = import_graph("fb15k-237", read_tsv(data / "fb15k-237"), options={})
    assert (graph.num_train, graph.num_valid, graph.num_test) == (272_115, 17_535, 20_466)
    pool = import_pool(
        graph,
        name="published",
        file=data / "fb-test-s" / "pool.tsv.gz",
        seeds_file=data / "fb-test-s" / "seed_triples.tsv",
        filters=["category-head", "category-tail"],
    )
    assert pool.report == []
    import_labels(pool, data / "fb-test-s" / "human_labels.tsv.gz")
    report = pool_report(pool)
    assert {key: report[key] for key in ("seeds", "pooled", "filtered", "to_people", "by_reason")} == {
        "seeds": 1023,
        "pooled": 21_469,
        "filtered": 8902,
        "to_people": 12_567,
        "by_reason": {"category-head": 1565, "category-tail": 7337},
    }
    states = {key: report[key] for key in ("positive", "negative", "assumed_negative", "unjudged")}
    assert states == {"positive": 2738, "negative": 10_797, "assumed_negative": 8896, "unjudged": 61}
    assert sum(states.values()) == 22_492 == report["seeds"] + report["pooled"]


def test_systems_made_later_are_not_in_the_pool(pool: Pool):
    make_systems(pool.graph, ["rescal"])
    build_pool(Pool.objects.get(pk=pool.pk), progress_of(pool))
    assert sorted(pool.systems.values_list("name", flat=True)) == ["complex", "distmult", "transe"]


def test_families_count_what_their_systems_found_together_and_alone(pool: Pool):
    found = [
        {finding.system for finding in unpack_provenance(row.provenance, pool.contributors)}
        for row in pool.triples.order_by("id")
    ]
    families = {"translational": {"transe"}, "decomposition": {"distmult", "complex"}}
    assert pool_families(pool) == {
        family: {
            "systems": [name for name in pool.contributors if name in of],
            "found": sum(bool(by & of) for by in found),
            "only": sum(bool(by) and by <= of for by in found),
        }
        for family, of in families.items()
    }
    pool.contributors = ["transe", "someone", "complex"]  # made elsewhere in part
    assert [(family, of["systems"]) for family, of in pool_families(pool).items()] == [
        ("translational", ["transe"]),
        ("decomposition", ["complex"]),
        ("not known", ["someone"]),
    ]


def test_a_pool_without_contributors_has_no_families(pool: Pool):
    pool.contributors = []
    pool.triples.update(provenance=b"")
    assert pool_families(pool) == {}
