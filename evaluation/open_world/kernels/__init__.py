"""Arithmetic of the open world: theory (theory.py), simulation (simulation.py), judged pools (pool.py), studies
(study.py).
"""
