"""ProjE's scores are PyKEEN's."""

from tests.pooling.systems.networks import assert_equals_pykeen, network


def test_scores_equal_pykeen():
    assert_equals_pykeen("proje", network("proje"))
