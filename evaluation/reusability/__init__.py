"""Reusability: whether labels are fair to systems outside the pool, and which systems they can compare.

Others use `ANALYSIS` and `reusability_json` (sections.py); who found what comes from evaluation/planning/findings.py.
"""
