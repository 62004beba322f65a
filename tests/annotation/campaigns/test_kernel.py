"""When work is done at the pace of some days: values worked out by hand."""

import pytest

from annotation.campaigns.kernel import finish


def test_finish_is_left_over_mean_and_its_range_from_students_t() -> None:
    # mean 20, standard deviation 1, t(2 degrees of freedom, 97.5 %) = 4.3027: 20 ± 4.3027 / √3 = 20 ± 2.4841
    found = finish(100, [19, 20, 21])
    assert found is not None and (found.days, found.per_day) == (5, 20)
    assert found.soonest == pytest.approx(100 / 22.4841, rel=1e-5)
    assert found.latest == pytest.approx(100 / 17.5159, rel=1e-5)


def test_days_that_differ_much_leave_the_end_open() -> None:
    # 20 ± 4.3027 · 10 / √3 = 20 ± 24.84: the pace may be nothing
    found = finish(100, [10, 20, 30])
    assert found is not None and found.latest is None
    assert found.soonest == pytest.approx(100 / 44.8414, rel=1e-5)


def test_equal_days_have_no_range_and_days_without_labels_count() -> None:
    assert finish(60, [20, 20]) == (3, 20, 3, 3)
    found = finish(60, [40, 0])
    assert found is not None and (found.days, found.per_day, found.latest) == (3, 20, None)


@pytest.mark.parametrize("days", [[], [0], [0, 0, 0]])
def test_without_a_label_nothing_is_known(days: list[int]) -> None:
    assert finish(100, days) is None


def test_one_day_gives_no_range() -> None:
    assert finish(100, [50]) == (2, 50, None, None)


def test_nothing_left_takes_no_time() -> None:
    assert finish(0, [19, 20, 21]) == (0, 20, 0, 0)
