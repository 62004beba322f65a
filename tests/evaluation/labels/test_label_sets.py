"""Label sets: one state for each triple of the table, by key."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from annotation.judging.label_import import import_labels
from annotation.labelling.withdraw import withdraw_labels
from annotation.models import Campaign, Item, Judgement, Label, Slot
from annotation.models.slot import ADJUDICATION
from annotation.people.accounts import add_person
from evaluation.labels.import_qrels import import_qrels
from evaluation.labels.label_sets import LabelChoice, label_set, label_sets, parse_time
from evaluation.labels.pool_table import EvaluationError, pool_table
from evaluation.labels.qrels import freeze_qrels
from evaluation.measures.label_state import LabelState
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.questions.kernel import questions_of
from tests.annotation.factories import answer, slot_for
from tests.factories import judge, make_person, names_of

Triple = tuple[int, int, int]


def states(pool: Pool, key: str) -> dict[Triple, LabelState]:
    table = pool_table(pool)
    state = label_set(pool, table, key).state
    return {tuple(t): LabelState(s) for t, s in zip(table.triples.tolist(), state.tolist(), strict=True)}


def expected(pool: Pool, deepest: int = 1000) -> dict[Triple, LabelState]:
    """By the words: seeds positive; a label beats a filter; undecided is unjudged; other test triples unpooled."""
    test = map(tuple, open_graph(pool.graph).test.tolist())
    found = dict.fromkeys(test, LabelState.NOT_POOLED)
    verdicts = dict(pool.judgements.values_list("triple_id", "verdict"))
    by_verdict = {"positive": LabelState.POSITIVE, "negative": LabelState.NEGATIVE, "undecided": LabelState.UNJUDGED}
    for row in pool.triples.all():
        state = LabelState.ASSUMED_NEGATIVE if row.reason else LabelState.UNJUDGED
        state = by_verdict[verdicts[row.pk]] if row.pk in verdicts else state
        found[row.head, row.relation, row.tail] = state if row.depth <= deepest else LabelState.UNJUDGED
    found |= dict.fromkeys(pool.seeds.values_list("head", "relation", "tail"), LabelState.POSITIVE)
    return found


def test_current_labels(labelled: Pool):
    found = states(labelled, "current")
    assert found == expected(labelled)
    assert set(found.values()) == set(LabelState)


def test_a_label_beats_a_filter_either_way(labelled: Pool):
    found = states(labelled, "current")
    filtered = {
        found[row.head, row.relation, row.tail]
        for row in labelled.triples.exclude(reason="").filter(judgement__isnull=False)
    }
    assert filtered == {LabelState.POSITIVE, LabelState.NEGATIVE}


def test_seeds_alone(labelled: Pool):
    seeds = set(labelled.seeds.values_list("head", "relation", "tail"))
    found = states(labelled, "seeds")
    assert {t for t, s in found.items() if s == LabelState.POSITIVE} == seeds
    assert set(found.values()) == {LabelState.POSITIVE, LabelState.NOT_POOLED}


def test_the_full_test_set(labelled: Pool):
    test = set(map(tuple, open_graph(labelled.graph).test.tolist()))
    found = states(labelled, "full-test")
    assert {t for t, s in found.items() if s == LabelState.POSITIVE} == test
    assert set(found.values()) == {LabelState.POSITIVE, LabelState.NOT_POOLED}


@pytest.mark.parametrize("depth", [0, 1, 3, 5, 99])
def test_labels_to_a_depth(labelled: Pool, depth: int):
    found = states(labelled, f"depth:{depth}")
    assert found == expected(labelled, deepest=depth)
    if depth == 0:
        positive = {t for t, s in found.items() if s == LabelState.POSITIVE}
        assert positive == set(labelled.seeds.values_list("head", "relation", "tail"))


def test_frozen_qrels_do_not_follow_the_labels(labelled: Pool):
    freeze_qrels(labelled, "v1")
    before = states(labelled, "qrels:v1")
    assert before == states(labelled, "current")
    triple = labelled.triples.get(pk=Judgement.objects.filter(verdict="negative").values("triple_id")[:1])
    judge(triple, "positive")
    assert states(labelled, "qrels:v1") == before
    changed = {t for t, s in states(labelled, "current").items() if s != before[t]}
    assert changed == {(triple.head, triple.relation, triple.tail)}


def test_counts_are_those_of_the_states(labelled: Pool):
    table = pool_table(labelled)
    count = Counter(states(labelled, "current").values())
    assert label_set(labelled, table, "current").counts() == {
        "positive": count[LabelState.POSITIVE],
        "negative": count[LabelState.NEGATIVE],
        "assumed_negative": count[LabelState.ASSUMED_NEGATIVE],
        "unjudged": count[LabelState.UNJUDGED],
    }
    total = labelled.seeds.count() + labelled.triples.count()
    assert sum(label_set(labelled, table, "current").counts().values()) == total


def test_an_unknown_key_is_refused_with_those_that_there_are(pool: Pool):
    table = pool_table(pool)
    for key in (
        "",
        "all",
        "depth",
        "depth:",
        "depth:x",
        "depth:-1",
        "depth:²",
        "qrels:",
        "Seeds",
        "until:",
        "annotator:",
        "annotator:ann",
        "annotator:-1",
        "imported:",
    ):
        with pytest.raises(EvaluationError) as caught:
            label_set(pool, table, key)
        assert str(caught.value) == (
            f"Unknown label set {key!r}: give seeds, current, full-test, depth:D, until:TIME, annotator:N, "
            "qrels:NAME or imported:NAME."
        )


def test_unknown_qrels_are_refused_with_those_that_there_are(pool: Pool):
    freeze_qrels(pool, "v1")
    with pytest.raises(EvaluationError) as caught:
        label_set(pool, pool_table(pool), "qrels:v2")
    assert str(caught.value) == "Pool p has no qrels 'v2'. Qrels: v1."


# -- labels of people -------------------------------------------------------------------------------------------


@pytest.fixture
def campaign(pool: Pool) -> Campaign:
    return open_campaign(pool)


@pytest.fixture
def people(campaign: Campaign) -> dict[str, User]:
    names = ("ann", "ben", "cleo")
    return {name: add_person(name, "annotator", campaign, consented=True)[0] for name in names}


def give(campaign: Campaign, person: User, item: Item, given: str) -> None:
    answer(person, slot_for(campaign, person, item), given)


def triple_of(item: Item) -> Triple:
    return item.triple.head, item.triple.relation, item.triple.tail


def unlabelled(pool: Pool) -> dict[Triple, LabelState]:
    return expected(pool)  # no judgement is there


def test_labels_of_one_annotator(pool: Pool, campaign: Campaign, people: dict[str, User]):
    one, two, three = campaign.items.order_by("order").select_related("triple")[:3]
    nothing = unlabelled(pool)
    for person, item, given in (
        ("ben", one, "Y"),
        ("ann", one, "N"),
        ("ann", two, "?"),
        ("ben", two, "N"),
        ("ann", three, "Y"),
    ):
        give(campaign, people[person], item, given)
    assert states(pool, "annotator:1") == nothing | {
        triple_of(one): LabelState.POSITIVE,
        triple_of(two): LabelState.NEGATIVE,
    }
    assert states(pool, "annotator:2") == nothing | {
        triple_of(one): LabelState.NEGATIVE,
        triple_of(two): LabelState.UNJUDGED,
        triple_of(three): LabelState.POSITIVE,
    }
    assert label_set(pool, pool_table(pool), "annotator:2").name == "labels of annotator 2"


def test_an_annotator_that_is_not_there(pool: Pool, campaign: Campaign, people: dict[str, User]):
    table = pool_table(pool)
    with pytest.raises(EvaluationError) as caught:
        label_set(pool, table, "annotator:1")
    assert str(caught.value) == "Pool p has no annotator 1: nobody has given a label yet."
    give(campaign, people["ann"], campaign.items.first(), "Y")
    give(campaign, people["ben"], campaign.items.first(), "Y")
    with pytest.raises(EvaluationError) as caught:
        label_set(pool, table, "annotator:3")
    assert str(caught.value) == "Pool p has no annotator 3: give 1 to 2."
    withdraw_labels(campaign, people["ann"])
    with pytest.raises(EvaluationError) as caught:
        label_set(pool, table, "annotator:1")
    assert str(caught.value) == "Annotator 1 has no label that counts: all were withdrawn."


def test_an_annotator_of_a_pool_without_campaign(pool: Pool):
    with pytest.raises(EvaluationError) as caught:
        label_set(pool, pool_table(pool), "annotator:1")
    assert str(caught.value) == "Pool p has no annotator 1: nobody has given a label yet."


def test_labels_until_a_time(pool: Pool, campaign: Campaign, people: dict[str, User], tmp_path: Path):
    one, two = campaign.items.order_by("order").select_related("triple")[:2]
    nothing = unlabelled(pool)
    filtered = pool.triples.exclude(reason="").first()
    assert filtered is not None
    for name in ("ann", "ben"):
        give(campaign, people[name], one, "Y")
        give(campaign, people[name], two, "N")
    noon = datetime(2026, 3, 2, 12, tzinfo=UTC)
    Label.objects.filter(item=one).update(created_at=noon)
    Label.objects.filter(item=two).update(created_at=noon + timedelta(seconds=90))
    triple = (filtered.head, filtered.relation, filtered.tail)
    path = tmp_path / "labels.tsv"
    path.write_text("\t".join([*names_of(pool.graph, triple), "Y"]) + "\n")
    import_labels(pool, path)
    assert states(pool, "until:2026-03-02T11:59:59") == nothing
    assert states(pool, "until:2026-03-02") == nothing
    first = nothing | {triple_of(one): LabelState.POSITIVE}
    assert states(pool, "until:2026-03-02T12:00") == first
    assert states(pool, "until:2026-03-02T14:01:00+02:00") == first  # 12:01 UTC
    assert states(pool, "until:2026-03-02T12:01:30Z") == first | {triple_of(two): LabelState.NEGATIVE}
    now = f"until:{timezone.now().replace(tzinfo=None).isoformat()}"
    assert states(pool, now) == states(pool, "current")
    assert states(pool, now)[triple] == LabelState.POSITIVE
    early, late = (label_set(pool, pool_table(pool), f"until:2026-03-02T{t}") for t in ("09:00", "14:00:05+02:00"))
    assert (early.key, early.name) == ("until:2026-03-02T09:00:00Z", "labels until 2026-03-02 09:00 UTC")
    assert (late.key, late.name) == ("until:2026-03-02T12:00:05Z", "labels until 2026-03-02 12:00:05 UTC")
    assert (early.note, late.note) == ("No triple had been judged by then.", "")


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "0001-01-01T00:00+23:00", "12:00", "1e9"])
def test_a_time_that_is_none_is_refused(text: str):
    with pytest.raises(EvaluationError) as caught:
        parse_time(text)
    assert str(caught.value) == (
        f"{text!r} is not a valid time: write it as in until:2026-03-02T12:00 (UTC, or with a zone as in +02:00)."
    )


def test_a_time_that_has_not_come_is_refused():
    later = (timezone.now() + timedelta(hours=1)).isoformat()
    with pytest.raises(EvaluationError) as caught:
        parse_time(later)
    assert str(caught.value) == f"{later!r} has not come yet: labels as they stood are of the past."


# -- imported, and the question sets ----------------------------------------------------------------------------


def test_imported_and_frozen_qrels_are_told_apart(labelled: Pool):
    freeze_qrels(labelled, "here")
    pooled = labelled.triples.order_by("id").first()
    assert pooled is not None
    triple = (pooled.head, pooled.relation, pooled.tail)
    import_qrels(labelled, "there", "\t".join([*names_of(labelled.graph, triple), "1"]).encode(), "file")
    found = states(labelled, "imported:there")
    assert found[triple] == LabelState.POSITIVE
    assert Counter(found.values())[LabelState.POSITIVE] == labelled.seeds.count() + 1
    table = pool_table(labelled)
    for key, message in (
        ("qrels:there", "Pool p has no qrels 'there'. Qrels: here."),
        ("imported:here", "Pool p has no imported qrels 'here'. Imported qrels: there."),
    ):
        with pytest.raises(EvaluationError) as caught:
            label_set(labelled, table, key)
        assert str(caught.value) == message


NAMES = ["micro_mrr", "macro_mrr", "map@20", "judged@10", "amr"]


@pytest.mark.parametrize("key", ["current", "depth:2", "seeds"])
def test_the_original_questions_are_those_of_the_seeds(labelled: Pool, key: str):
    table = pool_table(labelled)
    grown, original = (label_set(labelled, table, key, q) for q in ("grown", "original"))
    seeds = np.array(labelled.seeds.values_list("head", "relation", "tail"))
    questions, *_ = questions_of(seeds)
    side, relation = table.ranks.side, table.ranks.relation
    entity = table.question_keys % table.graph.num_entities
    wanted = set(zip(*(column.tolist() for column in questions), strict=True))
    assert original.asked is not None
    found = [(int(s), int(e), int(r)) in wanted for s, e, r in zip(side, entity, relation, strict=True)]
    assert original.asked.tolist() == found
    assert original.state.tolist() == grown.state.tolist()
    assert original.question_counts().answered == len(wanted)
    if key == "current":
        assert grown.question_counts().answered > len(wanted)


def test_values_and_sums_are_those_of_the_questions_that_are_asked(labelled: Pool):
    table = pool_table(labelled)
    grown, original = (label_set(labelled, table, "current", q) for q in ("grown", "original"))
    assert original.asked is not None
    everything, values, sums = grown.values(NAMES), original.values(NAMES), original.sums(NAMES)
    for name in ["micro_mrr", "macro_mrr", "map@20", "judged@10"]:
        kept = original.asked[everything[name].unit_question]
        assert 0 < kept.sum() < kept.size
        assert values[name].n == kept.sum()
        assert np.array_equal(values[name].per_unit, everything[name].per_unit[:, kept])
        mean = everything[name].per_unit[:, kept].mean(axis=1)
        assert np.array_equal(values[name].mean(), mean)
        assert np.allclose(sums[name].mean(), mean, rtol=1e-12, atol=0)
        assert np.array_equal(grown.sums([name])[name].mean(), grown.values([name])[name].mean()) or np.allclose(
            grown.sums([name])[name].mean(), everything[name].mean(), rtol=1e-12, atol=0
        )
    # chance is that among the questions that are asked
    assert np.allclose(sums["amr"].mean(), values["amr"].mean(), rtol=1e-12, atol=0)


def test_assumed_negatives_count_as_asked_for(labelled: Pool):
    chosen = label_set(labelled, pool_table(labelled), "current", "original")
    with_them, without = (chosen.values(["judged@10"], judged)["judged@10"].mean() for judged in (True, False))
    assert (with_them > without).all()
    assert np.allclose(chosen.sums(["judged@10"], False)["judged@10"].mean(), without, rtol=1e-12, atol=0)


def test_the_full_test_set_has_its_own_questions(labelled: Pool):
    table = pool_table(labelled)
    grown, original = (label_set(labelled, table, "full-test", q) for q in ("grown", "original"))
    assert original.asked is None
    assert original.note == ("Full test has its own questions; original and grown are the same for it.")
    assert np.array_equal(original.values(["map"])["map"].per_unit, grown.values(["map"])["map"].per_unit)


def test_a_question_set_that_is_none_is_refused(labelled: Pool):
    with pytest.raises(EvaluationError) as caught:
        label_set(labelled, pool_table(labelled), "current", "all")
    assert str(caught.value) == "Unknown question set 'all': give grown or original."


@pytest.mark.parametrize("questions", ["grown", "original"])
def test_question_counts_are_those_of_the_definition(labelled: Pool, questions: str):
    table = pool_table(labelled)
    chosen = label_set(labelled, table, "current", questions)
    ranks = chosen.prepared.table
    by_question: dict[int, set[LabelState]] = {}
    for question, triple in zip(ranks.question.tolist(), ranks.triple.tolist(), strict=True):
        if chosen.asked is None or chosen.asked[question]:
            by_question.setdefault(question, set()).add(LabelState(chosen.state[triple]))
    answered = [s for s in by_question.values() if LabelState.POSITIVE in s]
    judged = [s for s in answered if LabelState.NEGATIVE in s]
    either = [s for s in answered if s & {LabelState.NEGATIVE, LabelState.ASSUMED_NEGATIVE}]
    assert chosen.question_counts() == (len(answered), len(judged), len(either))
    assert 0 < len(judged) < len(either) <= len(answered)


def test_choices_of_a_pool_name_annotators_to_managers_only(labelled: Pool, django_assert_num_queries):
    campaign = open_campaign(labelled)
    people = [add_person(name, "annotator", campaign, consented=True)[0] for name in ("ann", "ben")]
    for person in reversed(people):
        give(campaign, person, campaign.items.first(), "Y")
    freeze_qrels(labelled, "v1")
    pooled = labelled.triples.first()
    assert pooled is not None
    line = "\t".join([*names_of(labelled.graph, (pooled.head, pooled.relation, pooled.tail)), "1"])
    import_qrels(labelled, "theirs", line.encode(), "file")
    boss, guest = make_person("boss", "manager"), make_person("guest", "researcher")
    common = [
        ("seeds", "seeds only: the sampled test triples", "Whole label sets"),
        ("current", "current labels", "Whole label sets"),
        ("full-test", "full test: all test triples of the graph", "Whole label sets"),
        *((f"depth:{d}", f"labels to depth {d}", "Pool depth") for d in range(6)),
        ("qrels:v1", "qrels v1", "Frozen qrels"),
        ("imported:theirs", "imported theirs", "Imported qrels"),
    ]
    assert label_sets(labelled, guest) == [
        LabelChoice(*row)
        for row in [
            *common,
            ("annotator:1", "annotator 1", "Labels of one person"),
            ("annotator:2", "annotator 2", "Labels of one person"),
        ]
    ]
    assert label_sets(labelled, boss)[-2:] == [
        ("annotator:1", "annotator 1 (ben)", "Labels of one person"),
        ("annotator:2", "annotator 2 (ann)", "Labels of one person"),
    ]
    for choice in label_sets(labelled, guest):
        chosen = label_set(labelled, pool_table(labelled), choice.key)
        assert (chosen.key, chosen.name.removeprefix("labels of ")) == (choice.key, choice.name.partition(":")[0])
    Slot.objects.filter(annotator=people[0]).update(number=ADJUDICATION)
    assert [choice.name for choice in label_sets(labelled, guest)[-2:]] == ["annotator 1", "adjudicator 2"]
    assert label_set(labelled, pool_table(labelled), "annotator:2").name == "labels of adjudicator 2"
