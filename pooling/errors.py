"""Errors of the pooling app."""

from core.errors import UserError


class PoolError(UserError):
    """A pool does not exist, or cannot be made as asked."""
