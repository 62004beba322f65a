"""Compute measures from rank rows and label states: arrays in, arrays out, without Django.

A measure is a row of `registry.py` (parse_measure, MEASURES, USUAL), written beside its kernel in micro.py, macro.py,
ir.py, judged.py, condensed.py, adjusted.py or slow_decay.py. Others use `values.py` (values, means),
`question_sums.py`, `live_sums.py`, `rank_table.py` and `prepared.py`.
"""
