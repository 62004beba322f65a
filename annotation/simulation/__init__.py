"""Simulated people, for demos, tests and benchmarks: simulate.py (Simulation, simulate, simulated_labels)."""
