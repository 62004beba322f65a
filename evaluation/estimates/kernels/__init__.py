"""Arithmetic of estimates: samples and weights (weights.py), unbiased and list estimates (estimator.py, lists.py,
nist.py), estimates from imputed labels (covariates.py, imputation.py, modelled.py), intervals (intervals.py), names
(quantities.py).
"""
