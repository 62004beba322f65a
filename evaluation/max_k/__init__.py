"""Max-k: precision, recall and F1 of systems that may return at most k entities (Mei et al., SIGIR 2018).

Others use `ANALYSIS` and `max_k_json` (sections.py), `WHICH` and `score_missing` (stored_runs.py).
"""
