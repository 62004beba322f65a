"""Offer the measures and statistics to notebooks as DataFrames, without Django or a database.

`from evaluation import …` gives `comparisons.py` (evaluate, compare, correlate, …) and `rank_table.py` (rank_table,
RankedRuns); docstrings take their data from `example.py`.
"""
