"""Qrels made elsewhere: TSV and TREC, all or nothing, used as given."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from core.errors import UserError
from core.files.lines import Bounds
from core.models import AuditEntry
from evaluation.labels import import_qrels as module
from evaluation.labels.import_qrels import import_qrels
from evaluation.labels.pool_table import EvaluationError
from evaluation.labels.qrels import freeze_qrels, read_qrels
from evaluation.measures.label_state import LabelState
from evaluation.models import Qrels
from evaluation.test_sets.export import export_test_set
from evaluation.test_sets.files import ExportOptions
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.pools.build import create_pool
from pooling.runs.files import question_id
from tests.factories import make_person, names_of

Triple = tuple[int, int, int]


def states(qrels: Qrels) -> dict[Triple, LabelState]:
    triples, state = read_qrels(qrels)
    return {tuple(t): LabelState(s) for t, s in zip(triples.tolist(), state.tolist(), strict=True)}


def triples_of(pool: Pool) -> list[Triple]:
    return list(pool.triples.order_by("id").values_list("head", "relation", "tail"))


def seeds_of(pool: Pool) -> list[Triple]:
    return list(pool.seeds.order_by("id").values_list("head", "relation", "tail"))


def line(pool: Pool, triple: Triple, label: str) -> str:
    return "\t".join([*names_of(pool.graph, triple), label]) + "\n"


def given(pool: Pool, text: str, format: str = "tsv") -> Qrels:
    return import_qrels(pool, "theirs", text.encode(), "file.tsv", format)


def refused(pool: Pool, text: str, format: str = "tsv") -> str:
    with pytest.raises(UserError) as caught:
        given(pool, text, format)
    assert not Qrels.objects.exists()
    assert not AuditEntry.objects.filter(act="qrels-imported").exists()
    return str(caught.value)


def test_every_word_for_a_state(labelled: Pool):
    words = {
        "1": LabelState.POSITIVE,
        "Y": LabelState.POSITIVE,
        "positive": LabelState.POSITIVE,
        "0": LabelState.NEGATIVE,
        "N": LabelState.NEGATIVE,
        "negative": LabelState.NEGATIVE,
        "-1": LabelState.UNJUDGED,
        "?": LabelState.UNJUDGED,
        "unjudged": LabelState.UNJUDGED,
        "assumed_negative": LabelState.ASSUMED_NEGATIVE,
        " 1 ": LabelState.POSITIVE,
    }
    triples, seeds = triples_of(labelled), seeds_of(labelled)
    text = "".join(line(labelled, t, word) for t, word in zip(triples, words, strict=False))
    qrels = given(labelled, text + "".join(line(labelled, t, "1") for t in seeds))
    wanted = dict.fromkeys(seeds, LabelState.POSITIVE) | dict.fromkeys(triples, LabelState.UNJUDGED)
    assert states(qrels) == wanted | dict(zip(triples, words.values(), strict=False))
    assert qrels.origin == "imported"
    rest = len(triples) - len(words)
    assert qrels.notes == [f"{rest} of {len(triples)} pooled triples are not in the file and count as unjudged."]


def test_our_own_judgements_come_back_as_they_went(labelled: Pool, tmp_path: Path):
    frozen = freeze_qrels(labelled, "v1")
    export_test_set(frozen, tmp_path / "out")
    raw = (tmp_path / "out" / "judgements.tsv").read_bytes()
    for name, content in (("plain", raw), ("packed", gzip.compress(raw, mtime=0))):
        qrels = import_qrels(labelled, name, content, "judgements.tsv")
        assert states(qrels) == states(frozen)
        assert qrels.notes == []
        assert (qrels.num_positive, qrels.num_assumed_negative) == (frozen.num_positive, frozen.num_assumed_negative)


@pytest.mark.parametrize("strict", [False, True])
def test_our_own_trec_qrels_come_back(labelled: Pool, tmp_path: Path, strict: bool):
    """TREC has no word for an assumed negative: it comes back as negative, or as unjudged if exported strictly."""
    frozen = freeze_qrels(labelled, "v1")
    export_test_set(frozen, tmp_path / "out", ExportOptions(strict=strict))
    qrels = given(labelled, (tmp_path / "out/trec/qrels.txt").read_text(), "trec")
    assumed = LabelState.UNJUDGED if strict else LabelState.NEGATIVE
    assert states(qrels) == {t: assumed if s == LabelState.ASSUMED_NEGATIVE else s for t, s in states(frozen).items()}
    by_people = labelled.judgements.filter(verdict="negative").exclude(triple__reason="").count()
    n = by_people + (0 if strict else frozen.num_assumed_negative)
    assert frozen.num_assumed_negative > by_people > 0
    absent = sum(state == LabelState.UNJUDGED for state in states(qrels).values())
    assert qrels.notes == [
        f"{absent} of {labelled.triples.count()} pooled triples are not in the file and count as unjudged.",
        f"What is 0 in the file counts as judged negative ({n:,} of the filtered triples): TREC has no word for an "
        "assumed negative; judgements.tsv of a test set has one.",
    ]


@pytest.mark.parametrize("threshold", [1, 2, 3])
def test_grades_are_taken_with_a_threshold(labelled: Pool, threshold: int):
    one, two, three, four, five, *_ = triples_of(labelled)
    graded = [(one, 0), (two, 1), (three, 2), (four, 3), (five, -1)]
    text = "".join(line(labelled, t, str(grade)) for t, grade in graded)
    qrels = import_qrels(labelled, "theirs", text.encode(), "file.tsv", threshold=threshold)
    names = {t: names_of(labelled.graph, t) for t, _ in graded}
    trec = "".join(f"{question_id(0, *names[t][:2])} 0 {names[t][2]} {grade}\n" for t, grade in graded)
    same = import_qrels(labelled, "trec", trec.encode(), "file", "trec", threshold=threshold)
    found = states(qrels)
    wanted = [LabelState.POSITIVE if grade >= threshold else LabelState.NEGATIVE for _, grade in graded[:4]]
    assert [found[t] for t, _ in graded] == [*wanted, LabelState.UNJUDGED]
    assert states(same) == found
    least = f"{threshold} and more" if threshold < 3 else "3"
    assert f"Labels were read as grades from 0 to 3: {least} counts as positive, less as negative." in qrels.notes


def test_grades_out_of_range_are_named_by_line(labelled: Pool):
    triples = triples_of(labelled)
    text = "".join(line(labelled, t, word) for t, word in zip(triples, ["3", "4", "-2", "Y"], strict=False))
    with pytest.raises(EvaluationError) as caught:
        import_qrels(labelled, "theirs", text.encode(), "file.tsv", threshold=1)
    assert str(caught.value).splitlines() == [
        "file.tsv:2: label '4' is not one of -1, 0, 1, 2, 3",
        "file.tsv:3: label '-2' is not one of -1, 0, 1, 2, 3",
        "file.tsv:4: label 'Y' is not one of -1, 0, 1, 2, 3",
        "Correct the file; nothing was imported.",
    ]
    with pytest.raises(EvaluationError, match=r"^4 is not a valid threshold: give 1, 2, 3, "):
        import_qrels(labelled, "theirs", line(labelled, triples[0], "1").encode(), "file.tsv", threshold=4)
    assert refused(labelled, line(labelled, triples[0], "2")).splitlines()[0] == (
        "file.tsv:1: label '2' is not one of 1, 0, -1, Y, N, ?, positive, negative, assumed_negative, unjudged; "
        "for grades from 0 to 3 give a threshold"
    )


def test_one_side_of_a_triple_is_enough_in_trec(labelled: Pool):
    head, relation, tail = next(t for t in triples_of(labelled) if t[0] != t[2])
    names = names_of(labelled.graph, (head, relation, tail))
    assert "%" not in names[1] and ":" not in names[1]
    for i, text in enumerate(
        (
            f"{question_id(0, names[0], names[1])} 0 {names[2].replace('%', '%25').replace(' ', '%20')} 1\n",
            f"{question_id(1, names[2], names[1])}\tQ0\t{names[0].replace('%', '%25').replace(' ', '%20')}\t1\n",
        )
    ):
        qrels = import_qrels(labelled, f"n{i}", text.encode(), "file", "trec")
        positive = {t for t, s in states(qrels).items() if s == LabelState.POSITIVE}
        assert positive == {*seeds_of(labelled), (head, relation, tail)}


def test_what_the_file_says_of_seeds_holds_and_is_told(labelled: Pool):
    one, two, three, *rest = seeds_of(labelled)
    text = line(labelled, one, "1") + line(labelled, two, "N") + line(labelled, three, "-1")
    qrels = given(labelled, text)
    found = states(qrels)
    assert [found[t] for t in (one, two, three)] == [LabelState.POSITIVE, LabelState.NEGATIVE, LabelState.UNJUDGED]
    assert {found[t] for t in rest} == {LabelState.POSITIVE}
    n = len(rest) + 3
    assert qrels.notes == [
        f"{n - 3} of {n} seed triples are not in the file and count as positive.",
        f"The file calls 1 of {n} seed triples negative (first in line 2), and so they count.",
        f"The file calls 1 of {n} seed triples unjudged (first in line 3), and so they count.",
        f"{labelled.triples.count()} of {labelled.triples.count()} pooled triples are not in the file and count as "
        "unjudged.",
    ]


def test_what_is_not_in_the_pool_stays_out_and_is_told(labelled: Pool):
    graph, seeds, pooled = open_graph(labelled.graph), seeds_of(labelled), triples_of(labelled)
    unsampled = [t for t in map(tuple, graph.test.tolist()) if t not in seeds]
    train = list(map(tuple, graph.train[:3].tolist()))
    text = "".join(line(labelled, t, "1") for t in [*seeds, *pooled, *train, unsampled[0]])
    qrels = given(labelled, text)
    assert set(states(qrels)) == {*seeds, *pooled}
    assert qrels.notes == [
        "3 triples are not in the pool: they have no rank rows and stay out.",
        "1 triple is of the test set and not sampled: a known fact of this pool, which stays out.",
    ]


def test_a_file_about_nothing_of_the_pool_is_refused(labelled: Pool):
    triple = tuple(open_graph(labelled.graph).train[0].tolist())
    assert refused(labelled, line(labelled, triple, "1")) == (
        "file.tsv: pool p has 0 of its 1 triples; nothing was imported."
    )


def test_repeated_lines_are_one_and_lines_that_contradict_are_refused(labelled: Pool):
    one, two = triples_of(labelled)[:2]
    said = line(labelled, one, "Y") + line(labelled, two, "N")
    assert refused(labelled, said + line(labelled, two, "1") + line(labelled, one, "assumed_negative")) == (
        "file.tsv:3: says positive of the triple that line 2 calls negative\n"
        "file.tsv:4: says assumed_negative of the triple that line 1 calls positive\n"
        "Correct the file; nothing was imported."
    )
    assert states(given(labelled, said + line(labelled, one, "1")))[one] == LabelState.POSITIVE


def test_bad_lines_are_all_named_and_nothing_is_imported(labelled: Pool):
    good = line(labelled, triples_of(labelled)[0], "1")
    names = names_of(labelled.graph, triples_of(labelled)[1])
    text = (
        good
        + "\n"
        + f"nobody\t{names[1]}\t{names[2]}\t1\n"
        + f"{names[0]}\tno such\t{names[2]}\t1\n"
        + "\t".join([*names, "yes"])
        + "\n"
        + "\t".join(names)
        + "\n"
    )
    assert refused(labelled, text).splitlines() == [
        "file.tsv:3: the graph does not have head 'nobody'",
        "file.tsv:4: the graph does not have relation 'no such'",
        "file.tsv:5: label 'yes' is not one of 1, 0, -1, Y, N, ?, positive, negative, assumed_negative, unjudged",
        "file.tsv:6: has 3 columns where head, relation, tail, label are 4",
        "Correct the file; nothing was imported.",
    ]


def test_bad_trec_lines_are_all_named(labelled: Pool):
    names = names_of(labelled.graph, triples_of(labelled)[0])
    relation = names[1].replace(" ", "%20")
    text = (
        f"tail:nobody:{relation} 0 p7 1\nmiddle:p7:{relation} 0 p7 1\nq7 0 p7 1\ntail:p7:{relation} 0 no%20one 1\n"
        f"tail:p7:{relation} 0 p8 2\ntail:p7:{relation} 0 p8\n"
    )
    assert refused(labelled, text, "trec").splitlines() == [
        f"file.tsv:1: the graph has no question 'tail:nobody:{relation}'; ids are as export_topics writes them",
        f"file.tsv:2: the graph has no question 'middle:p7:{relation}'; ids are as export_topics writes them",
        "file.tsv:3: the graph has no question 'q7'; ids are as export_topics writes them",
        "file.tsv:4: the graph does not have entity 'no one'",
        "file.tsv:5: relevance '2' is not one of 1, 0, -1; for grades from 0 to 3 give a threshold",
        "file.tsv:6: has 3 words where question id, 0, entity, relevance are 4",
        "Correct the file; nothing was imported.",
    ]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "f has no judgements; nothing was imported."),
        (b"head\trelation\ttail\tlabel\n", "f has no judgements; nothing was imported."),
        (b"p7\tknows\t\xff\t1\n", "f:1: is not UTF-8; save the file as UTF-8."),
        (gzip.compress(b"x" * 100, mtime=0)[:-4],
         "f is a damaged .gz file (Compressed file ended before the end-of-stream marker was reached): copy or pack it "
            "again."),
        (gzip.compress(b"x" * 1001, mtime=0), "f holds more than 1,000 bytes of text, the most that are read here."),
        (b"\n" * 101, "f has more than 100 lines, the most that are read here."),
    ],
)  # fmt: skip
def test_a_file_that_is_none_is_refused(pool: Pool, monkeypatch, raw: bytes, message: str):
    monkeypatch.setattr(module, "BOUNDS", Bounds(1000, 100))
    with pytest.raises(UserError) as caught:
        import_qrels(pool, "theirs", raw, "f")
    assert str(caught.value) == message
    assert not Qrels.objects.exists()


def test_a_name_is_used_once_for_frozen_and_imported_together(labelled: Pool):
    text = line(labelled, triples_of(labelled)[0], "1")
    freeze_qrels(labelled, "theirs")
    with pytest.raises(EvaluationError) as caught:
        given(labelled, text)
    assert str(caught.value) == ("Pool p has qrels 'theirs' already; frozen qrels never change: choose a new name.")
    import_qrels(labelled, "second", text.encode(), "f")
    with pytest.raises(EvaluationError) as caught:
        freeze_qrels(labelled, "second")
    assert str(caught.value) == ("Pool p has qrels 'second' already; imported qrels never change: choose a new name.")


def test_a_pool_that_is_not_ready_takes_no_qrels(pool: Pool):
    building = create_pool(pool.graph, name="q", sample=0.2)
    assert refused(building, line(pool, triples_of(pool)[0], "1")) == (
        "Pool q is building: import its qrels when it is ready."
    )


def test_an_import_is_recorded_without_names_of_people(labelled: Pool):
    boss = make_person("boss")
    raw = line(labelled, triples_of(labelled)[0], "1").encode()
    qrels = import_qrels(labelled, "theirs", raw, "of-somebody.tsv", user=boss)
    entry = AuditEntry.objects.get(act="qrels-imported")
    assert (entry.person, entry.pool, entry.about) == (boss, labelled, "theirs")
    assert entry.details == {"triples": 1, "sha256": hashlib.sha256(raw).hexdigest()}
    assert qrels.created_by == boss
