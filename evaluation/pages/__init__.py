"""List the pages of the evaluation, and compute their heavy parts in jobs.

Others use `registry.py` (ANALYSES, PAPERS, get_analysis); `job.py` runs heavy parts.
"""
