"""Estimates: what measures of the whole pool would be, from a random sample of its labels.

Others use `estimate`, `beyond`, `Estimated` and `TEXTS` (estimate.py), `COUNTS`, `LISTS` and `MEASURED`
(kernels/quantities.py) and `ANALYSIS` (sections.py).
"""
