"""Arithmetic of planning: confidence in an order (order_confidence.py), positives by pool depth (yield_curve.py)."""
