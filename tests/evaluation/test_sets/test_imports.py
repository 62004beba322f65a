"""A judged test set from elsewhere: a pool and its judgements at once, or nothing."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from annotation.models import Campaign, ImportedLabel
from core.enums import JobState
from core.errors import UserError
from core.jobs.progress import Progress
from core.models import AuditEntry
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table
from evaluation.labels.qrels import freeze_qrels, pooled_state, read_qrels, state_counts
from evaluation.models import Qrels
from evaluation.sections.metrics import metrics
from evaluation.test_sets.export import export_test_set
from evaluation.test_sets.files import ExportOptions
from evaluation.test_sets.imports import import_test_set
from pooling.enums import PoolingJob
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool
from pooling.runs.files import question_id
from pooling.runs.score import score_for_pool
from tests.factories import judge_all, make_job, make_person, make_pool, make_systems, names_of

Triple = tuple[int, int, int]


def line(graph: Graph, triple: Triple, label: str, *more: str) -> str:
    return "\t".join([*names_of(graph, triple), label, *more]) + "\n"


@pytest.fixture
def facts(town: Graph) -> dict[str, list[Triple]]:
    """Triples of each split, and some of none."""
    arrays = open_graph(town)
    found = {split: [tuple(t) for t in getattr(arrays, split).tolist()] for split in ("train", "valid", "test")}
    known = {t for triples in found.values() for t in triples}
    found["free"] = [t for h in range(8) for tail in range(20, 25) if (t := (h, 1, tail)) not in known]
    return found


def given(town: Graph, text: str, **more) -> Qrels:
    return import_test_set(town, text.encode(), "theirs.tsv", **{"name": "theirs", **more})


def refused(town: Graph, text: str, **more) -> str:
    with pytest.raises(UserError) as caught:
        given(town, text, **more)
    assert [m.objects.count() for m in (Pool, Qrels, ImportedLabel)] == [0, 0, 0]
    assert not AuditEntry.objects.filter(act__in=["pool-imported", "qrels-imported"]).exists()
    return str(caught.value)


def triples_of(rows) -> list[Triple]:
    return list(rows.order_by("id").values_list("head", "relation", "tail"))


def test_positive_test_triples_are_seeds_and_the_others_are_pooled(town: Graph, facts):
    seeds, (yes, no, open_, assumed) = facts["test"][3:5], facts["free"][:4]
    text = line(town, yes, "Y") + "".join(line(town, t, "1") for t in seeds) + line(town, no, "0")
    text += line(town, open_, "?") + line(town, assumed, "assumed_negative")
    boss = make_person("boss", "manager")
    qrels = given(town, text, user=boss)
    pool = qrels.pool
    assert (pool.name, qrels.name, pool.origin, pool.state, pool.depth) == ("theirs", "theirs", "imported", "ready", 1)
    assert pool.seed_source == "the positive test triples of theirs.tsv"
    assert sorted(triples_of(pool.seeds)) == sorted(seeds)
    assert triples_of(pool.triples) == [yes, no, open_, assumed]
    triples, state = read_qrels(qrels)
    assert state_counts(state) == {"positive": 3, "negative": 1, "assumed_negative": 1, "unjudged": 1}
    assert qrels.notes == [] and pool.report == []
    assert list(ImportedLabel.objects.order_by("id").values_list("answer", "line", "file_name")) == [
        ("Y", 1, "theirs.tsv"),
        ("N", 4, "theirs.tsv"),
    ]
    now = dict(zip(map(tuple, pooled_state(pool)[0].tolist()), pooled_state(pool)[1].tolist(), strict=True))
    assert {t: now[t] for t in (yes, no)} == {
        tuple(t): s for t, s in zip(triples.tolist(), state.tolist(), strict=True) if tuple(t) in (yes, no)
    }
    assert list(AuditEntry.objects.filter(person=boss).order_by("id").values_list("act", "person", "about")) == [
        ("pool-imported", boss.pk, "theirs"),
        ("qrels-imported", boss.pk, "theirs"),
    ]


def test_known_facts_are_left_out_with_their_lines(town: Graph, facts):
    train, valid, negative, seed = facts["train"][0], facts["valid"][0], facts["test"][1], facts["test"][0]
    text = line(town, train, "Y") + line(town, facts["free"][0], "N") + line(town, valid, "N")
    text += line(town, negative, "N") + line(town, seed, "Y")
    qrels = given(town, text)
    assert qrels.pool.report == [
        {"kind": f"known fact ({split})", "count": 1, "examples": [f"theirs.tsv:{n}: {' '.join(names_of(town, t))}"]}
        for split, n, t in (("train", 1, train), ("valid", 3, valid), ("test", 4, negative))
    ]
    assert triples_of(qrels.pool.triples) == [facts["free"][0]]
    assert triples_of(qrels.pool.seeds) == [seed]


def test_a_seed_file_says_otherwise(town: Graph, facts, tmp_path: Path):
    first, second, third = facts["test"][:3]
    (tmp_path / "seeds.tsv").write_text("".join("\t".join(names_of(town, t)) + "\n" for t in (first, second)))
    text = line(town, first, "N") + line(town, third, "Y") + line(town, facts["free"][0], "Y")
    qrels = given(town, text, seeds_file=tmp_path / "seeds.tsv")
    assert triples_of(qrels.pool.seeds) == [first, second]
    assert qrels.pool.seed_source == "seeds.tsv"
    assert [entry["kind"] for entry in qrels.pool.report] == ["known fact (test)"]
    assert (qrels.num_positive, qrels.num_negative) == (2, 1)  # what the file says of a seed holds
    bad = tmp_path / "bad.tsv"
    bad.write_text("nobody\tknows\tp6\n")
    with pytest.raises(UserError, match=r"^bad\.tsv:1: the graph does not have head 'nobody'"):
        given(town, text, name="other", seeds_file=bad)
    assert Pool.objects.count() == 1


def test_columns_are_found_by_their_names(town: Graph, facts):
    header = "head\trelation\ttail\twhy\tdepth\tstate\tfilter\n"
    rows = [
        (facts["test"][0], "seed", "0", "positive", ""),
        (facts["free"][0], "x", "7", "assumed_negative", "types"),
        (facts["free"][1], "x", "12", "negative", ""),
    ]
    qrels = given(town, header + "".join(line(town, *row) for row in rows))
    found = qrels.pool.triples.order_by("id").values_list("depth", "reason")
    assert (list(found), qrels.pool.depth) == ([(7, "types"), (12, "")], 12)
    assert (qrels.num_positive, qrels.num_negative, qrels.num_assumed_negative) == (1, 1, 1)


def test_trec_qrels(town: Graph, facts):
    seed, yes, no = facts["test"][2], *facts["free"][:2]
    rows = []
    for (h, r, t), relevance in ((seed, 1), (yes, 1), (no, 0)):
        head, relation, tail = names_of(town, (h, r, t))
        rows.append(f"{question_id(0, head, relation)} 0 {tail.replace('%', '%25').replace(' ', '%20')} {relevance}\n")
    qrels = import_test_set(town, gzip.compress("".join(rows).encode()), "qrels.txt.gz", name="theirs", format="trec")
    assert (triples_of(qrels.pool.seeds), triples_of(qrels.pool.triples)) == ([seed], [yes, no])
    assert (qrels.num_positive, qrels.num_negative) == (2, 1)
    assert qrels.notes == [
        "What is 0 in the file counts as judged negative (1 of the triples): TREC has no word for an assumed negative; "
        "judgements.tsv of a test set has one."
    ]


def test_a_judged_test_set_of_ours_keeps_assumed_negatives_by_its_judgements(town: Graph, tmp_path: Path):
    make_systems(town)
    pool = make_pool(town)
    judge_all(pool)
    frozen = freeze_qrels(pool, "v1")
    export_test_set(frozen, tmp_path / "out", ExportOptions(with_runs=False))
    same = {"seeds_file": tmp_path / "out/seeds.tsv"}
    told = import_test_set(town, (tmp_path / "out/judgements.tsv").read_bytes(), "j.tsv", name="tsv", **same)
    trec = import_test_set(
        town, (tmp_path / "out/trec/qrels.txt").read_bytes(), "q.txt", name="trec", format="trec", **same
    )
    negative, assumed = frozen.num_negative, frozen.num_assumed_negative
    assert negative and assumed
    assert triples_of(told.pool.seeds) == triples_of(trec.pool.seeds) == triples_of(pool.seeds)
    assert (told.num_negative, told.num_assumed_negative, told.notes) == (negative, assumed, [])
    assert (trec.num_negative, trec.num_assumed_negative) == (negative + assumed, 0)
    assert trec.notes[-1].startswith(f"What is 0 in the file counts as judged negative ({negative + assumed:,} of")


def test_grades(town: Graph, facts):
    text = "".join(line(town, t, grade) for t, grade in zip([*facts["test"][:2], facts["free"][0]], "321", strict=True))
    qrels = given(town, text, threshold=2)
    assert (qrels.num_positive, qrels.num_negative, qrels.pool.seeds.count()) == (2, 1, 2)
    assert qrels.notes == ["Labels were read as grades from 0 to 3: 2 and more counts as positive, less as negative."]


def test_what_is_refused_leaves_nothing(town: Graph, facts):
    seed, free = line(town, facts["test"][0], "1"), facts["free"]
    text = seed + line(town, free[0], "Y") + "who\tknows\tp6\t1\n" + line(town, free[0], "N") + line(town, free[1], "x")
    assert refused(town, text).splitlines() == [
        "theirs.tsv:3: the graph does not have head 'who'",
        "theirs.tsv:4: says negative of the triple that line 2 calls positive",
        "theirs.tsv:5: label 'x' is not one of 1, 0, -1, Y, N, ?, positive, negative, assumed_negative, unjudged",
        "Correct the file; nothing was imported.",
    ]
    assert refused(town, line(town, free[0], "1")) == (
        "theirs.tsv calls no test triple of graph town positive, so that there is no seed to ask about: give a seed "
        "file. Nothing was imported."
    )
    assert refused(town, seed) == (
        "theirs.tsv judges nothing but known facts and seeds: there is nothing to pool. Nothing was imported."
    )
    assert refused(town, seed, name="new").startswith("Pool name 'new' is the address")


def test_a_failure_at_the_end_leaves_nothing(town: Graph, facts, monkeypatch):
    def fail(*args: object) -> None:
        raise UserError("no")

    monkeypatch.setattr("evaluation.test_sets.imports.import_judged", fail)
    assert refused(town, line(town, facts["test"][0], "1") + line(town, facts["free"][0], "1")) == "no"


def test_our_own_export_comes_back_and_measures_as_it_did(town: Graph, tmp_path: Path):
    """A site that never had a campaign: the file, runs, and the same figures in all label sets."""
    systems = make_systems(town, ["transe", "distmult"])
    pool = make_pool(town)
    judge_all(pool)
    frozen = freeze_qrels(pool, "v1")
    export_test_set(frozen, tmp_path / "out")
    raw = (tmp_path / "out" / "judgements.tsv").read_bytes()
    qrels = import_test_set(town, raw, "judgements.tsv", name="back")
    back = qrels.pool
    assert sorted(triples_of(back.seeds)) == sorted(triples_of(pool.seeds))
    assert dict(back.triples.values_list("tail", "reason")) == dict(pool.triples.values_list("tail", "reason"))
    assert back.depth == pool.depth and back.report == []
    for system in systems:
        score_for_pool(system, back, Progress(make_job(PoolingJob.SCORE, JobState.DONE, pool=back)))
    wanted = metrics(pool, "qrels:v1")["systems"]
    assert metrics(back, "imported:back")["systems"] == wanted
    assert metrics(back, "current")["systems"] == wanted
    assert (
        label_set(back, pool_table(back), "current").counts() == label_set(pool, pool_table(pool), "qrels:v1").counts()
    )
    assert not Campaign.objects.exists()
