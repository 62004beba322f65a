"""Read and write the labels that an evaluation uses, as one state for each triple of a pool.

Others use `label_sets.py` (label_set, label_sets, LabelSet), `pool_table.py` (pool_table, EvaluationError), `qrels.py`
(freeze_qrels, read_qrels, get_qrels) and `import_qrels.py` (import_qrels).
"""
