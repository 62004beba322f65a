"""The figures of the audit sample: rates against counting, effects against imputing triple by triple."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, kendalltau

from annotation.campaigns.lifecycle import open_campaign
from annotation.release.audit_sample import audited, draw_audit
from evaluation.audit_sample.error_rates import IMPUTATIONS, audited_filters, effects, sample_version
from evaluation.measures.label_state import LabelState
from evaluation.measures.values import means
from pooling.models import Pool
from tests.evaluation.cases import context_of
from tests.factories import judge


@pytest.fixture
def audited_pool(labelled: Pool) -> Pool:
    """Half of what each filter took is in the sample; of the sample every third is positive, every fourth undecided
    or waiting. Two filtered triples were judged before, without a sample."""
    campaign = open_campaign(labelled)
    draw_audit(campaign, 0.5, seed=1)
    verdicts = ("positive", "negative", "negative", "undecided", "positive", "negative", None)
    for number, item in enumerate(audited(campaign).order_by("triple").select_related("triple__pool")):
        if verdict := verdicts[number % len(verdicts)]:
            judge(item.triple, verdict)
    return labelled


def test_rates_are_what_counting_gives(audited_pool: Pool) -> None:
    found = {one.reason: one for one in audited_filters(audited_pool)}
    reasons = sorted(set(audited_pool.triples.exclude(reason="").values_list("reason", flat=True)))
    assert sorted(found) == reasons
    sampled = set(audited(audited_pool.campaign).values_list("triple", flat=True))
    for reason, one in found.items():
        triples = list(audited_pool.triples.filter(reason=reason))
        verdict = {t.pk: t.judgement.verdict for t in triples if hasattr(t, "judgement")}
        inside = [verdict[t.pk] for t in triples if t.pk in sampled and t.pk in verdict]
        positive, judged = inside.count("positive"), len(inside) - inside.count("undecided")
        assert (one.filtered, one.drawn) == (len(triples), sum(t.pk in sampled for t in triples))
        assert (one.errors.hits, one.errors.n, one.undecided) == (positive, judged, inside.count("undecided"))
        assert one.assumed == len(triples) - len(verdict)
        interval = binomtest(positive, judged).proportion_ci(0.95, method="wilson")
        assert one.rates == pytest.approx(
            {"low": interval.low, "rate": positive / judged, "high": interval.high}, abs=1e-12
        )
        assert one.missed == {end: rate * one.assumed for end, rate in one.rates.items()}
    assert sum(one.undecided for one in found.values()) > 0


def test_judged_without_a_sample_says_nothing_of_a_filter(labelled: Pool) -> None:
    """judge_all judged two filtered triples, which nobody drew at random."""
    assert labelled.judgements.exclude(triple__reason="").count() == 2
    found = audited_filters(labelled)
    assert found
    assert {(one.drawn, one.errors.n, one.rates, one.missed) for one in found} == {(0, 0, None, None)}


def test_effects_are_those_of_imputing_one_by_one(audited_pool: Pool) -> None:
    names = ("micro_mrr", "map@20", "bpref")
    context = context_of(audited_pool, measures=names)
    filters = audited_filters(audited_pool)
    found = effects(context, filters)
    reason = dict(audited_pool.triples.values_list("pk", "reason"))
    rates = {one.reason: one.rates for one in filters}
    table, state = context.table, context.labels.state
    for end in ("low", "rate", "high"):
        sums = {name: np.zeros(len(context.systems)) for name in names}
        changed = 0
        for draw in range(IMPUTATIONS):
            chance = np.random.default_rng([7, draw]).random(len(state))
            imputed = state.copy()
            for place in range(len(state)):
                if state[place] == LabelState.ASSUMED_NEGATIVE:
                    rate = rates[reason[int(table.pooled_id[place])]][end]
                    if chance[place] < rate:
                        imputed[place] = LabelState.POSITIVE
                        changed += 1
            for name, mean in means(table.pool, imputed, names).items():
                sums[name] += mean
        assert changed > 0
        for name in names:
            np.testing.assert_allclose(found[name].imputed[end], sums[name] / IMPUTATIONS, rtol=0, atol=1e-12)
            tau = kendalltau(found[name].now.round(12), (sums[name] / IMPUTATIONS).round(12)).statistic
            assert found[name].tau[end] == pytest.approx(tau, abs=1e-9)
    now = means(table.pool, state, names)
    for name in names:
        np.testing.assert_array_equal(found[name].now, now[name])


def test_effect_of_no_sample_is_none(labelled: Pool) -> None:
    context = context_of(labelled, measures=("micro_mrr",))
    one = effects(context, audited_filters(labelled))["micro_mrr"]
    for end in ("low", "rate", "high"):
        np.testing.assert_allclose(one.imputed[end], one.now, rtol=0, atol=1e-12)
        assert one.tau[end] == pytest.approx(1)


def test_effects_depend_on_the_seed_and_repeat_with_it(audited_pool: Pool) -> None:
    filters = audited_filters(audited_pool)

    def values(seed: int) -> list[float]:
        context = context_of(audited_pool, measures=("micro_mrr",), seed=seed)
        return effects(context, filters)["micro_mrr"].imputed["rate"].tolist()

    assert values(1) == values(1) != values(2)


def test_progress_is_told(audited_pool: Pool) -> None:
    told = []
    context = context_of(audited_pool, measures=("micro_mrr",))
    object.__setattr__(context, "progress", lambda done, total: told.append((done, total)))
    effects(context, audited_filters(audited_pool))
    assert told == [(done, IMPUTATIONS) for done in range(1, IMPUTATIONS + 1)]


def test_version_follows_the_size_of_the_sample(labelled: Pool) -> None:
    assert sample_version(labelled) == "0"
    campaign = open_campaign(labelled)
    assert sample_version(labelled) == "0"
    drawn = draw_audit(campaign, 0.5)
    assert sample_version(labelled) == str(drawn.total) != "0"


def test_filtered_triple_that_came_to_people_in_another_way_is_no_part_of_the_sample(audited_pool: Pool) -> None:
    before = sum(one.drawn for one in audited_filters(audited_pool))
    item = audited(audited_pool.campaign).first()
    item.batch = audited_pool.campaign.batches.get(origin="all")
    item.save()
    assert sum(one.drawn for one in audited_filters(audited_pool)) == before - 1
