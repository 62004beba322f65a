"""Arithmetic of estimates: samples and weights (weights.py), unbiased (estimator.py), model-assisted and list
estimates (model_assisted.py, lists.py), intervals (jackknife.py), names (quantities.py).
"""
