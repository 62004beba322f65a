"""Browse the questions, triples and label sets of a pool under the current labels.

`pool_states.py` (`pool_states`, `TripleState`, `LEGEND`) gives each triple its state; `search.py` finds questions and
triples; `question.py` (`inspect_question`) and `triple.py` (`inspect_triple`) show one of them;
`label_set_rows.py` lists the label sets; `tables.py` makes tables for download.
"""
