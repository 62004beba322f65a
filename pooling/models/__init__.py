"""The rows of graphs, systems, runs and pools; with the models of core that jobs and people share."""

from core.models import ApiToken, AuditEntry, Job, Worker
from pooling.models.graph import Graph, Relation
from pooling.models.pool import Pool, PooledTriple, SeedTriple
from pooling.models.run import Run
from pooling.models.system import System

__all__ = [
    "ApiToken",
    "AuditEntry",
    "Graph",
    "Job",
    "Pool",
    "PooledTriple",
    "Relation",
    "Run",
    "SeedTriple",
    "System",
    "Worker",
]
