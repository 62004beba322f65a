"""The town of tests/factories.py: jobs and database helpers are tested on what uses them."""

from tests.pooling.conftest import _one_thread, pool, town, trained

__all__ = ["_one_thread", "pool", "town", "trained"]
