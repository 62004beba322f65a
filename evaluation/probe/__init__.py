"""PROBE: systems compared under chosen sharpness and robustness of the score (Moon and Ko 2025).

Others use `ANALYSIS` and `probe_json` (sections.py); `probe_surface`, `best_systems` and `system_places` (kernel.py)
serve benchmarks.
"""
