"""Errors of the pooling app."""

from core.errors import UserError


class PoolError(UserError):
    """The pool does not exist, or cannot be made as asked."""
