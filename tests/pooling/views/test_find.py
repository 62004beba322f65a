"""Addresses name graphs, systems and pools."""

import pytest
from django.http import Http404

from pooling.models import Pool, System
from pooling.views.find import find_graph, find_pool, find_system


def test_found_by_name_with_its_graph(pool: Pool, django_assert_num_queries):
    system = System.objects.filter(graph=pool.graph).order_by("pk")[0]
    with django_assert_num_queries(3):
        assert find_graph(pool.graph.name) == pool.graph
        assert find_system(pool.graph.name, system.name).graph == pool.graph
        assert find_pool(pool.name).graph == pool.graph


@pytest.mark.django_db
def test_unknown_name_is_404():
    for find, names in ((find_graph, ("g",)), (find_system, ("g", "s")), (find_pool, ("p",))):
        with pytest.raises(Http404):
            find(*names)
