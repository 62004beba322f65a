"""Systems with rules: mine or propose rules, weigh them, score questions with them, show them in words.

In `kernels/`: the miner (`training.py`: `mine_system`, `load_rules`; `mining.py` and `paths.py` do the work), pLogicNet
(`plogicnet.py`; `grounded_triples.py` weighs its rules), RNNLogic and RNNLogic+ (`rnnlogic.py`; `rule_generator.py`
proposes rules, `rule_predictor.py` and `rule_embedding.py` weigh them). `in_words.py` shows rules on the page of a
system (`rules_page`) and as TSV (`rules_tsv`).
"""
