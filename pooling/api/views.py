"""Graphs, systems, runs, pools and jobs, for who may evaluate."""

from pooling.api import serializers as data
from pooling.api.listing import Listing, One
from pooling.models import Graph, Job, Pool, Run, System


class Graphs(Listing):
    queryset = Graph.objects.all()
    serializer_class = data.GraphData
    filters = {"source": "source"}


class GraphOne(One):
    queryset = Graph.objects.all()
    serializer_class = data.GraphData
    names = {"graph": "name"}


class Systems(Listing):
    queryset = System.objects.select_related("graph")
    serializer_class = data.SystemData
    filters = {"graph": "graph__name", "kind": "kind", "state": "state", "archived": "archived"}


class SystemOne(One):
    queryset = System.objects.select_related("graph")
    serializer_class = data.SystemData
    names = {"graph": "graph__name", "system": "name"}


class Runs(Listing):
    queryset = Run.objects.select_related("system__graph")
    serializer_class = data.RunData
    filters = {"graph": "system__graph__name", "system": "system__name"}


class Pools(Listing):
    queryset = Pool.objects.select_related("graph")
    serializer_class = data.PoolData
    filters = {"graph": "graph__name", "state": "state", "origin": "origin"}


class PoolOne(One):
    queryset = Pool.objects.select_related("graph")
    serializer_class = data.PoolData
    names = {"pool": "name"}


class Jobs(Listing):
    queryset = Job.objects.select_related("graph", "system", "pool")
    serializer_class = data.JobData
    filters = {"kind": "kind", "state": "state", "pool": "pool__name", "graph": "graph__name"}


class JobOne(One):
    queryset = Job.objects.select_related("graph", "system", "pool")
    serializer_class = data.JobData
    names = {"job": "pk"}
