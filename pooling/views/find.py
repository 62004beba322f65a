"""Find the graph, system or pool that an address names; 404 if there is none."""

from django.shortcuts import get_object_or_404

from core.people.roles import Person
from pooling.models import Graph, Pool, Run, System
from pooling.runs.ownership import visible_runs


def find_graph(name: str) -> Graph:
    return get_object_or_404(Graph, name=name)


def find_system(graph: str, name: str) -> System:
    """Return a system with its graph."""
    return get_object_or_404(System.objects.select_related("graph"), graph__name=graph, name=name)


def find_run(person: Person, graph: str, system: str) -> Run:
    """Return a run with its system and graph; 404 if the person may not see it."""
    return get_object_or_404(visible_runs(person), system__graph__name=graph, system__name=system)


def find_pool(name: str) -> Pool:
    """Return a pool with its graph."""
    return get_object_or_404(Pool.objects.select_related("graph"), name=name)
