from pooling.models.audit import AuditEntry
from pooling.models.graph import Graph, Relation
from pooling.models.job import Job, Worker
from pooling.models.pool import Pool, PooledTriple, SeedTriple
from pooling.models.run import Run
from pooling.models.system import System
from pooling.models.token import ApiToken

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
