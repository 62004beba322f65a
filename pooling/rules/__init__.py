"""The rule miner: mine rules from training triples, score questions with them, show them in words.

`kernels/training.py` mines rules as a training (`mine_system`) and loads them (`load_rules`); `kernels/mining.py`
and `paths.py` do the work, and `kernels/scorer.py` scores questions. `in_words.py` shows rules on the
page of a system (`rules_page`) and as TSV (`rules_tsv`).
"""
