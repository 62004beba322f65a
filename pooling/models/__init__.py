"""The rows of graphs, systems, runs and pools."""

from pooling.models.graph import Graph, Relation
from pooling.models.pool import Pool, PooledTriple, SeedTriple
from pooling.models.run import Run
from pooling.models.system import System

__all__ = ["Graph", "Pool", "PooledTriple", "Relation", "Run", "SeedTriple", "System"]
