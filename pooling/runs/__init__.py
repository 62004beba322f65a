"""Score, store, import and export runs: candidates, rank rows and predictive distributions of one system.

Others use score_for_pool, score_system and triple_array (score.py), read_topk, read_ranks and question ids (files.py),
read_predictive and predict_for_pool (distributions.py), import_run (imports.py), whole_run (export.py), and the TREC
reader and writer.
"""
