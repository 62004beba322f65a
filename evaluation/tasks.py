"""Importing these registers what the evaluation app's jobs do; the task itself is pooling.run_job."""

from evaluation.domain import archive, figures, open_world_study

__all__ = ["archive", "figures", "open_world_study"]
