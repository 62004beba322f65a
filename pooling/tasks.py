"""Importing these registers what the pooling app's jobs do; the task itself is in core/tasks.py."""

from pooling.pools import build, growth
from pooling.runs import job
from pooling.training import train

__all__ = ["build", "growth", "job", "train"]
