"""Audit of the filters: how often each errs by its sample, and what its errors do to the comparison of systems.

Others use `ANALYSIS` (sections.py); `audited_filters` and `effects` (error_rates.py) compute it.
"""
