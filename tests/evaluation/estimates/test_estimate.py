"""Which labels make a sample of the pool, and why others make none."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Campaign, ImportedLabel
from annotation.release.next_batch import release_next
from evaluation.estimates.estimate import estimate
from evaluation.estimates.kernels.estimator import Estimator
from evaluation.estimates.kernels.intervals import of_total
from evaluation.estimates.kernels.modelled import modelled
from evaluation.estimates.kernels.nist import nist_lists
from evaluation.estimates.kernels.quantities import LISTS, MEASURED, MODELLED
from evaluation.estimates.kernels.weights import CERTAIN
from evaluation.estimates.sample import OPEN, NoSampleError, PoolSample, drawn_version, pool_sample
from evaluation.labels.label_sets import original_questions
from evaluation.labels.pool_table import pool_table
from evaluation.measures.label_state import LabelState, nonrelevant
from evaluation.measures.values import values
from evaluation.sections.metrics import metrics
from pooling.models import Pool, PooledTriple
from pooling.orders.base import OrderPool
from tests.factories import judge


def opened(pool: Pool, **options: object) -> Campaign:
    usual = {"order": "random", "batch_size": 6, "whole_questions": False, "seed": 3}
    return open_campaign(pool, **{**usual, **options})  # type: ignore[arg-type]


def people(pool: Pool) -> list[PooledTriple]:
    return list(pool.triples.filter(reason="").order_by("pk"))


def in_order(pool: Pool, seed: int = 3) -> list[PooledTriple]:
    """The triples for people as the seeded random order has them."""
    triples = people(pool)
    n = len(triples)
    place = OrderPool(np.zeros((0, n), np.int32), np.ones(n, np.int32), np.zeros(n, np.int64)).place(seed)
    return [triples[i] for i in np.argsort(place)]


def answer(triple: PooledTriple) -> str:
    """By the triple and not by its number, which is another in every order of tests."""
    return "positive" if (triple.head + triple.relation + triple.tail) % 3 == 0 else "negative"


def judge_these(triples: list[PooledTriple]) -> None:
    for triple in triples:
        judge(triple, answer(triple))


def drawn_of(pool: Pool) -> set[int]:
    return set(pool.campaign.items.exclude(place=None).values_list("triple_id", flat=True))


def in_sample(pool: Pool, found: PoolSample) -> set[int]:
    return set(pool_table(pool).pooled_id[found.sample.drawn].tolist())


def judge_drawn(pool: Pool) -> None:
    judge_these([triple for triple in people(pool) if triple.pk in drawn_of(pool)])


# -- what is in the sample --------------------------------------------------------------------------------------


def test_sample_is_what_the_random_order_drew(pool: Pool):
    opened(pool)
    release_next(pool.campaign)
    judge_drawn(pool)
    table = pool_table(pool)
    found = pool_sample(pool, table)
    drawn = drawn_of(pool)
    assert in_sample(pool, found) == drawn == {triple.pk for triple in in_order(pool)[: len(drawn)]}
    positive = sum(answer(triple) == "positive" for triple in people(pool) if triple.pk in drawn)
    assert positive > 0
    assert [tuple(one) for one in found.strata] == [("all triples", len(people(pool)), len(drawn), positive, 0)]
    assert (found.waiting, found.behind, found.aside, found.order) == (0, 0, 0, "Random")
    might = found.sample.stratum != CERTAIN
    assert set(table.pooled_id[might].tolist()) == {triple.pk for triple in people(pool)}
    assert found.sample.positive.sum() == pool.seeds.count() + positive
    assert (found.state[might & ~found.sample.drawn] == LabelState.UNJUDGED).all()


def test_triples_that_came_with_a_question_are_left_out_and_counted(pool: Pool):
    opened(pool, whole_questions=True)
    judge_these([item.triple for item in pool.campaign.items.select_related("triple")])
    mates = pool.campaign.items.filter(place=None).count()
    assert mates > 0
    found = pool_sample(pool, pool_table(pool))
    assert in_sample(pool, found) == drawn_of(pool)
    assert found.aside == mates
    assert found.notes[-1] == (
        "Batches of whole questions end by the size of the questions, so the triple that ends the sample is of a large"
        f" one more often than by chance: one triple of {len(drawn_of(pool))}. Single triples have no such end."
    )


def test_strata_are_those_of_depth(pool: Pool):
    opened(pool, order="stratified", order_settings={"bounds": [1, 3], "rates": [1.0, 0.5, 0.5]}, batch_size=20)
    judge_drawn(pool)
    found = pool_sample(pool, pool_table(pool))
    drawn = drawn_of(pool)
    expected = []
    for name, low, high in (("depth 1", 1, 1), ("depth 2 to 3", 2, 3), ("depth 4 and deeper", 4, 99)):
        of = [triple for triple in people(pool) if low <= triple.depth <= high]
        judged = [triple for triple in of if triple.pk in drawn]
        positive = [triple for triple in judged if answer(triple) == "positive"]
        expected.append((name, len(of), len(judged), len(positive), 0))
    assert [tuple(one) for one in found.strata] == expected
    assert all(one.judged for one in found.strata)
    assert found.order == "Stratified sample"


def test_a_stratum_without_a_triple_is_none(pool: Pool):
    opened(pool, order="stratified", order_settings={"bounds": [1, 90], "rates": [1.0, 0.5, 0.5]}, batch_size=20)
    judge_drawn(pool)
    found = pool_sample(pool, pool_table(pool))
    assert [one.name for one in found.strata] == ["depth 1", "depth 2 to 90"]
    assert found.sample.stratum.max() == 1


def test_drawn_triples_that_wait_are_as_if_not_drawn(pool: Pool):
    opened(pool)
    order = [triple for triple in in_order(pool) if triple.pk in drawn_of(pool)]
    judge_these([*order[:1], *order[3:]])
    found = pool_sample(pool, pool_table(pool))
    assert in_sample(pool, found) == {triple.pk for triple in [*order[:1], *order[3:]]}
    assert (found.waiting, found.behind, found.aside) == (2, 0, 0)
    assert found.strata[0].triples == len(people(pool))


def test_once_all_is_released_what_came_with_a_question_goes_on_where_the_order_stopped(pool: Pool):
    opened(pool, whole_questions=True)
    while release_next(pool.campaign):
        pass
    order, drawn = in_order(pool), drawn_of(pool)
    later = [triple for triple in order if triple.pk not in drawn]
    waiting = order[1], later[2]
    judge_these([triple for triple in order if triple not in waiting])
    found = pool_sample(pool, pool_table(pool))
    assert OPEN * len(order) >= 2
    assert in_sample(pool, found) == {triple.pk for triple in order if triple not in waiting}
    assert (found.waiting, found.behind, found.aside) == (2, 0, 0)


def test_once_all_is_released_the_sample_ends_where_too_many_wait(pool: Pool):
    opened(pool)
    Campaign.objects.filter(pool=pool).update(batch_size=0)
    release_next(Campaign.objects.get(pool=pool))  # all that is left, at once
    order, drawn = in_order(pool), len(drawn_of(pool))
    judge_these([triple for i, triple in enumerate(order) if i < drawn or (i % 2 and i >= 40)])
    found = pool_sample(pool, pool_table(pool))
    assert in_sample(pool, found) == {triple.pk for triple in order[:drawn]}
    assert (found.waiting, found.aside, found.undrawn) == (0, 0, 0)
    assert found.behind == len([i for i in range(40, len(order)) if i % 2])
    assert found.notes == [
        f"Judged triples that are left out for now: {found.behind}. Everything is released, and beyond what the order"
        f" drew the sample goes on as far as at most {100 * OPEN:.0f} % of it wait: {found.open} triples"
        " are not judged yet."
    ]


def test_undecided_is_drawn_and_not_positive(pool: Pool):
    opened(pool)
    judge_drawn(pool)
    before = pool_sample(pool, pool_table(pool)).strata[0]
    first = next(triple for triple in in_order(pool) if answer(triple) == "positive")
    assert first.pk in drawn_of(pool)
    judge(first, "undecided")
    after = pool_sample(pool, pool_table(pool)).strata[0]
    assert after == before._replace(positive=before.positive - 1, undecided=1)


def imported(triple: PooledTriple, *, before: bool) -> None:
    judge(triple, answer(triple))
    label = ImportedLabel.objects.create(triple=triple, answer="Y", file_name="f", file_sha256="0", line=triple.pk)
    made = timezone.now() + timedelta(days=-1 if before else 1)
    ImportedLabel.objects.filter(pk=label.pk).update(created_at=made)


def test_labels_imported_before_the_draw_are_certain_later_ones_are_not(pool: Pool):
    opened(pool)
    judge_drawn(pool)
    order, drawn = in_order(pool), drawn_of(pool)
    early = [order[0], order[-1]]  # one that was drawn, one that was not
    for triple in early:
        imported(triple, before=True)
    imported(order[1], before=False)
    imported(order[-2], before=False)
    found = pool_sample(pool, pool_table(pool))
    assert in_sample(pool, found) == drawn - {order[0].pk}
    assert found.strata[0].triples == len(order) - 2
    assert found.aside == 1  # order[-2]
    table = pool_table(pool)
    certain = found.sample.positive & (found.sample.stratum == CERTAIN)
    assert certain.sum() == pool.seeds.count() + sum(answer(triple) == "positive" for triple in early)
    judge(order[-1], "undecided")  # as if it were not there
    assert pool_sample(pool, table).strata[0].triples == len(order) - 1


def test_filtered_triples_count_by_their_label(pool: Pool):
    filtered = pool.triples.exclude(reason="").first()
    assert filtered is not None
    opened(pool)
    judge_drawn(pool)
    before = pool_sample(pool, pool_table(pool)).sample
    judge(filtered, "positive")
    after = pool_sample(pool, pool_table(pool)).sample
    at = pool_table(pool).position_of[filtered.pk]
    assert (before.stratum[at], after.stratum[at]) == (CERTAIN, CERTAIN)
    assert (before.positive[at], after.positive[at]) == (False, True)


def test_what_another_order_chose_later_is_left_out(pool: Pool):
    opened(pool)
    first = drawn_of(pool)
    Campaign.objects.filter(pool=pool).update(order="depth", order_settings={})
    release_next(Campaign.objects.get(pool=pool))
    judge_drawn(pool)
    found = pool_sample(pool, pool_table(pool))
    assert drawn_of(pool) > first
    assert in_sample(pool, found) == first
    assert found.aside == len(drawn_of(pool) - first)


def not_drawn(triple: PooledTriple) -> None:
    """As a triple that joins a pool, and whose place in the random order is before some that were drawn."""
    triple.item.place = None
    triple.item.save()


def test_sample_ends_before_a_triple_that_joined_and_is_not_drawn_yet(pool: Pool):
    opened(pool)
    judge_drawn(pool)
    order = in_order(pool)
    not_drawn(order[3])
    found = pool_sample(pool, pool_table(pool))
    assert in_sample(pool, found) == {triple.pk for triple in order[:3]}
    assert (found.waiting, found.behind, found.aside, found.undrawn) == (0, len(drawn_of(pool)) - 3, 1, 1)


# -- refused ----------------------------------------------------------------------------------------------------


def refusal(pool: Pool) -> str:
    with pytest.raises(NoSampleError) as caught:
        estimate(pool)
    return str(caught.value)


HOW = (
    "Estimates need a campaign that releases batches in the order random or stratified from its opening on (page"
    " Order of judging)."
)


def test_without_a_campaign_nothing_was_drawn(labelled: Pool):
    assert refusal(labelled) == f"Pool p has no campaign, so nothing was drawn for judging. {HOW}"


def test_everything_at_once_is_no_sample(pool: Pool):
    open_campaign(pool, seed=3)
    judge_these(people(pool))
    assert refusal(pool) == (
        "Everything in pool p was given to people at once, so what is judged so far is not a random sample. Once all is"
        f" judged, the measures themselves are the values. {HOW}"
    )


def test_an_order_that_is_no_sample_is_named(pool: Pool):
    opened(pool, order="hedge")
    judge_drawn(pool)
    assert refusal(pool) == (
        "The order 'Hedge' chose the first batch of pool p, and it is not a random sample: what it leaves out differs"
        f" from what it picks. {HOW}"
    )


def test_a_stratum_of_which_nothing_was_drawn_is_named(pool: Pool):
    opened(pool, order="stratified", order_settings={"bounds": [1, 3], "rates": [1.0, 0.5, 0.5]}, batch_size=2)
    judge_drawn(pool)
    deep = sum(triple.depth > 3 for triple in people(pool))
    assert refusal(pool) == (
        f"Nothing was drawn yet of depth 4 and deeper ({deep} triples): release more batches first."
    )


def test_a_sample_that_nobody_judged_says_how_many_were_drawn(pool: Pool):
    opened(pool, whole_questions=True)
    mate = pool.campaign.items.filter(place=None).select_related("triple").first()
    judge_these([mate.triple])
    assert refusal(pool) == f"None of the {len(drawn_of(pool))} triples drawn of all triples is judged yet."


def test_a_sample_that_begins_with_a_triple_that_joined_waits_for_it(pool: Pool):
    opened(pool)
    judge_drawn(pool)
    not_drawn(in_order(pool)[0])
    assert refusal(pool) == (
        "In the random order of all triples triples come first that are not drawn and judged yet: they joined the pool"
        " later, or came to people last. Release more batches, or wait for their labels."
    )


# -- values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("questions", ["grown", "original"])
def test_a_pool_that_is_judged_to_the_end_has_the_values_of_the_measures(pool: Pool, questions: str):
    opened(pool, whole_questions=True)
    while release_next(pool.campaign):
        pass
    assert len(drawn_of(pool)) < len(people(pool))  # the others came with a question, and the order has no more to do
    judge_these(people(pool))
    found = estimate(pool, questions=questions)
    assert (found.drawn.aside, found.drawn.strata[0].judged) == (0, len(people(pool)))
    expected = metrics(pool, "current", [*MEASURED, *MODELLED, "infap"], questions=questions)
    for i, system in enumerate(found.systems):
        for name in (*MEASURED, *MODELLED):
            one = found.modelled[name]
            assert one.low[i] == one.value[i] == one.high[i]
            assert one.value[i] == pytest.approx(expected["systems"][system][name], abs=1e-12)
            if name in MEASURED:
                assert found.unbiased[name].value[i] == pytest.approx(one.value[i], abs=1e-12)
        if questions == "original":
            assert found.plain is not None
            assert found.plain[i] == pytest.approx(expected["systems"][system]["infap"], abs=1e-12)
    for of in (found.unbiased, found.modelled):
        assert of["answers"].value == expected["n"]["micro_mrr"]
        assert of["questions"].value == pytest.approx([expected["n"]["macro_mrr"]])


@pytest.mark.parametrize("questions", ["grown", "original"])
def test_values_are_those_of_the_kernels_with_intervals_around_them(pool: Pool, questions: str):
    opened(pool, batch_size=27)
    judge_drawn(pool)
    table = pool_table(pool)
    drawn = pool_sample(pool, table)
    steps: list[tuple[int, int]] = []
    found = estimate(pool, questions=questions, progress=lambda *step: steps.append(step))
    asked = np.ones(table.pool.table.questions, dtype=bool)
    if questions == "original":
        asked = original_questions(table)
        assert not asked.all()
    judged = drawn.sample.positive | nonrelevant(drawn.state)
    unbiased = Estimator(table.pool, drawn.sample, asked).estimate(drawn.sample)
    unbiased |= nist_lists(table.pool, drawn.sample, judged, asked)
    assert {*found.unbiased} == {*MEASURED, *(one.name for one in LISTS), "positives", "answers", "questions"}
    for name, one in found.unbiased.items():
        assert one.value == pytest.approx(unbiased[name], abs=1e-12), name
        assert np.isfinite(one.low).all() == np.isfinite(one.high).all() == (name in ("positives", "answers")), name
    sizes = np.bincount(table.pool.table.triple[asked[table.pool.table.question]], minlength=len(asked))
    answers = of_total(unbiased["answers"], drawn.sample, sizes[: len(drawn.sample.stratum)].astype(float))
    assert found.unbiased["answers"] == answers
    names = (*MEASURED, *MODELLED)
    rng = np.random.default_rng(7)
    expected = modelled(table.pool, drawn.sample, asked, table.depth, names, rng, lambda done, total: None)
    assert {*found.modelled} == {*names, "positives", "answers", "questions"}
    for name, one in found.modelled.items():
        low, high = (0.0, 1.0) if name in names else (-np.inf, np.inf)
        assert (one.value == expected[name].value).all(), name
        if name == "questions":
            assert np.isnan([one.low, one.high]).all()
            continue
        assert (one.low == np.clip(expected[name].low, low, high)).all(), name
        assert (one.high == np.clip(expected[name].high, low, high)).all(), name
    assert (found.modelled["positives"].high > found.modelled["positives"].value).all()
    assert steps == [(i, 40) for i in range(1, 41)]
    again, other = estimate(pool, questions=questions), estimate(pool, questions=questions, seed=8)
    assert again.modelled["positives"].high == found.modelled["positives"].high
    assert other.modelled["positives"].high != found.modelled["positives"].high


@pytest.mark.parametrize("assumed", [True, False])
def test_nist_measures_read_assumed_negatives_as_asked(pool: Pool, assumed: bool):
    opened(pool, batch_size=27)
    judge_drawn(pool)
    table = pool_table(pool)
    drawn = pool_sample(pool, table)
    judged = drawn.sample.positive | (drawn.state == LabelState.NEGATIVE)
    if assumed:
        judged |= drawn.state == LabelState.ASSUMED_NEGATIVE
    asked = np.ones(table.pool.table.questions, dtype=bool)
    expected = nist_lists(table.pool, drawn.sample, judged, asked)
    found = estimate(pool, assumed_is_judged=assumed).unbiased
    for name in ("nist_infap", "nist_infndcg"):
        assert found[name].value == pytest.approx(expected[name], abs=1e-12)


def test_plain_infap_reads_what_was_not_drawn_as_unjudged(pool: Pool):
    opened(pool, batch_size=20)
    judge_these([item.triple for item in pool.campaign.items.select_related("triple")])
    table = pool_table(pool)
    sample = drawn_of(pool)
    state = np.full(len(table.triples), LabelState.NOT_POOLED, dtype=np.int8)
    state[table.filtered] = LabelState.ASSUMED_NEGATIVE
    for triple in people(pool):
        judged = LabelState.POSITIVE if answer(triple) == "positive" else LabelState.NEGATIVE
        state[table.position_of[triple.pk]] = judged if triple.pk in sample else LabelState.UNJUDGED
    state[table.is_seed] = LabelState.POSITIVE
    asked = original_questions(table)  # those with a seed, which is what is certain here
    for assumed in (True, False):
        expected = values(table.pool, state, ["infap"], assumed)["infap"].keep(asked).mean()
        found = estimate(pool, assumed_is_judged=assumed).plain
        assert found == pytest.approx(expected, abs=1e-12)


def test_strata_have_no_plain_infap(pool: Pool):
    opened(pool, order="stratified", order_settings={"bounds": [2], "rates": [1.0, 0.5]}, batch_size=20)
    judge_drawn(pool)
    assert estimate(pool).plain is None


def test_version_changes_with_a_batch(pool: Pool):
    assert drawn_version(pool) == "0/None"
    opened(pool)
    items = pool.campaign.items
    before = drawn_version(pool)
    assert before == f"{items.count()}/{len(drawn_of(pool)) - 1}"
    release_next(pool.campaign)
    assert drawn_version(pool) == f"{items.count()}/{len(drawn_of(pool)) - 1}" != before
