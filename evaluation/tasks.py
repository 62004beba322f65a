"""Importing these registers what the evaluation app's jobs do; the task itself is pooling.run_job."""

from evaluation.analyses import job
from evaluation.open_world import study
from evaluation.test_sets import zip_file

__all__ = ["job", "study", "zip_file"]
