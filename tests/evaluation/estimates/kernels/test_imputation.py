"""Labels that the model imputes: what it learns from those that are drawn, and what describes a triple."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from evaluation.estimates.kernels.covariates import Covariates, Effect, covariates
from evaluation.estimates.kernels.imputation import IMPUTATIONS, impute
from evaluation.estimates.kernels.modelled import modelled
from evaluation.estimates.kernels.weights import CERTAIN, Sample
from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.measures.values import values

N = 2000
NAMES = ("micro_mrr", "macro_hits@1", "map")


def quiet(done: int, total: int) -> None:
    pass


def world_of(strength: float, spread: float) -> tuple[Covariates, np.ndarray, np.ndarray]:
    """Labels by a probit model of one covariate and of 200 groups; covariates, labels, their probabilities."""
    rng = np.random.default_rng(5)
    x, group = rng.standard_normal((N, 1)), rng.integers(0, 200, N)
    mean = -0.5 + strength * x[:, 0] + (spread * rng.standard_normal(200))[group]
    given = Covariates(x, np.zeros((N, 0)), [Effect(group, np.ones(N))], np.zeros(N, dtype=np.intp))
    return given, rng.random(N) < norm.cdf(mean), norm.cdf(mean)


@pytest.mark.parametrize(("strength", "spread"), [(1.0, 0.0), (0.0, 1.5), (0.8, 1.0)])
def test_labels_are_imputed_as_likely_as_they_are(strength: float, spread: float):
    given, positive, likely = world_of(strength, spread)
    drawn = np.arange(N) % 2 == 0
    found = impute(given, drawn, positive[drawn], np.random.default_rng(1), quiet)
    share = found.mean(axis=0)
    assert found.shape == (IMPUTATIONS, N // 2)
    assert share.mean() == pytest.approx(likely[~drawn].mean(), abs=0.03)
    assert np.corrcoef(share, likely[~drawn])[0, 1] > 0.75
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 1.01)):
        band = (share >= low) & (share < high)
        assert positive[~drawn][band].mean() == pytest.approx(share[band].mean(), abs=0.08)


def test_what_a_covariate_tells_in_a_band_is_not_what_it_tells_in_another():
    """All triples of one band are drawn, few of the other, where the covariate tells the opposite."""
    rng = np.random.default_rng(6)
    x, band = rng.standard_normal((N, 2)), (np.arange(N) >= N // 4).astype(np.intp)
    likely = norm.cdf(-0.5 + np.where(band, -1.5, 1.5) * x[:, 0])
    positive, drawn = rng.random(N) < likely, (band == 0) | (rng.random(N) < 0.2)
    for given in (Covariates(x, np.zeros((N, 0)), [], band), Covariates(np.zeros((N, 0)), x, [], band)):
        share = impute(given, drawn, positive[drawn], np.random.default_rng(1), quiet).mean(axis=0)
        left = x[~drawn, 0]
        for low, high in ((-9.0, -1.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 9.0)):
            which = (left >= low) & (left < high)
            assert share[which].mean() == pytest.approx(likely[~drawn][which].mean(), abs=0.08)


def test_groups_without_a_drawn_triple_spread_as_the_others_do():
    given, positive, _ = world_of(0.0, 1.5)
    (effect,) = given.effects
    drawn = effect.group < 100
    found = impute(given, drawn, positive[drawn], np.random.default_rng(1), quiet)
    shares = np.array([[one[effect.group[~drawn] == g].mean() for g in range(100, 140)] for one in found])
    assert shares.std(axis=0).mean() > 0.25  # each of these groups differs from one imputation to the next
    assert np.ptp(shares, axis=1).min() > 0.5  # and from the others


def test_imputation_is_seeded_and_tells_how_far_it_is():
    given, positive, _ = world_of(0.5, 0.5)
    drawn = np.arange(N) < 500
    told: list[tuple[int, int]] = []
    one = impute(given, drawn, positive[drawn], np.random.default_rng(3), lambda *step: told.append(step))
    again, other = (impute(given, drawn, positive[drawn], np.random.default_rng(s), quiet) for s in (3, 4))
    assert (one == again).all() and (one != other).any()
    assert told == [(i, IMPUTATIONS) for i in range(1, IMPUTATIONS + 1)]


@pytest.mark.parametrize("label", [False, True])
def test_labels_that_are_all_alike_leave_room_for_others(label: bool):
    given, _, _ = world_of(0.0, 0.0)
    drawn = np.arange(N) < 40
    found = impute(given, drawn, np.full(40, label), np.random.default_rng(3), quiet)
    share = found.mean() if label else 1.0 - found.mean()
    assert 0.8 < share < 1.0


def test_covariates_are_scaled_and_describe_both_sides_of_a_triple(world):
    made = max(map(world, range(20)), key=lambda made: len(made.state))
    triples = len(made.state)
    stratum = np.where(np.arange(triples) % 4 == 0, CERTAIN, 0)
    sample = Sample(stratum, stratum == 0, np.arange(triples) % 8 == 0)
    depth = 1 + np.arange(triples) % 10
    found = covariates(made.table, sample, depth)
    might = int((stratum == 0).sum())
    assert found.shared.shape[0] == found.own.shape[0] == might
    assert found.own.shape[1] == 2 * 5 * made.table.systems
    for columns in (found.shared, found.own):
        spread = columns.std(axis=0)
        assert np.abs(columns.mean(axis=0)).max() < 1e-9
        assert np.all((np.abs(spread - 1) < 1e-9) | (spread == 0))
    assert found.band.tolist() == [0 if d <= 2 else 1 if d <= 5 else 2 for d in depth[stratum == 0].tolist()]
    by_depth = np.corrcoef(found.shared[:, 0], np.log(depth[stratum == 0]))[0, 1]
    assert by_depth == pytest.approx(1.0)
    table = made.table
    for side, effect in ((0, found.effects[0]), (1, found.effects[3])):
        for place, triple in enumerate(np.flatnonzero(stratum == 0).tolist()):
            rows = np.flatnonzero((table.triple == triple) & (table.side[table.question] == side))
            assert effect.group[place] == (table.question[rows[-1]] if rows.size else table.questions)


def test_the_bands_of_a_stratified_sample_are_its_strata(world):
    made = world(3)
    triples = np.arange(len(made.state))
    stratum = np.where(triples % 5 == 0, CERTAIN, np.where(triples % 3 == 0, 2, 0))
    sample = Sample(stratum, stratum == 0, np.zeros(len(triples), dtype=bool))
    found = covariates(made.table, sample, np.ones(len(triples), dtype=int))
    assert found.band.tolist() == [int(h == 2) for h in stratum[stratum != CERTAIN].tolist()]


def test_shared_covariates_do_not_depend_on_the_order_of_the_systems(world):
    made = world(3)
    turned = replace(made.table, **{k: getattr(made.table, k)[::-1] for k in ("strict", "optimistic", "pessimistic")})
    stratum = np.zeros(len(made.state), dtype=int)
    sample = Sample(stratum, stratum == 0, np.zeros(len(made.state), dtype=bool))
    depth = np.ones(len(made.state), dtype=int)
    one, other = (covariates(table, sample, depth) for table in (made.table, turned))
    assert one.shared == pytest.approx(other.shared)


def test_a_sample_of_everything_is_what_the_measures_say(world):
    for seed in range(6):
        made = world(seed)
        rng = np.random.default_rng(seed)
        triples = len(made.state)
        stratum = np.where(rng.random(triples) < 0.3, CERTAIN, rng.integers(0, 2, triples))
        stratum[:2] = 0, 1
        positive = rng.random(triples) < 0.5
        sample, asked = Sample(stratum, stratum != CERTAIN, positive), rng.random(made.questions) < 0.8
        depth = np.ones(triples, dtype=int)
        found = modelled(prepare(made.table), sample, asked, depth, NAMES, rng, quiet)
        state = np.where(positive, LabelState.POSITIVE, LabelState.NEGATIVE).astype(np.int8)
        expected = {n: v.keep(asked) for n, v in values(prepare(made.table), state, NAMES).items()}
        for name in NAMES:
            assert found[name].value == pytest.approx(expected[name].mean(), nan_ok=True)
            assert found[name].low == pytest.approx(found[name].high, nan_ok=True)
        assert found["positives"].value == positive.sum()
        assert found["answers"].value == expected["micro_mrr"].n
        assert found["questions"].value == expected["map"].n


def test_imputed_pools_keep_the_labels_that_were_drawn():
    """One triple is left: the measures lie between those of both its labels."""
    from tests.evaluation.estimates.kernels.test_nist import lists_of

    prepared = lists_of(np.array([[1, 2, 3, 4]]), np.zeros(4, dtype=int))
    stratum = np.array([0, 0, 0, CERTAIN])
    sample = Sample(stratum, np.array([False, True, True, False]), np.array([False, True, False, True]))
    rng, asked = np.random.default_rng(2), np.ones(1, dtype=bool)
    found = modelled(prepared, sample, asked, np.ones(4, dtype=int), ("map",), rng, quiet)
    without, with_it = (1 / 2 + 2 / 4) / 2, (1 + 2 / 2 + 3 / 4) / 3
    share = found["positives"].value - 2
    assert 0 < share < 1
    assert found["map"].value == pytest.approx(without + share * (with_it - without))
    assert found["questions"].value == 1
