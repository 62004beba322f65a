"""Compare systems on measured values: tests, correlations of orders, intervals, stability. Arrays, without Django.

Others use `bootstrap.py` (bootstrap_correlations, bootstrap_places), `t_tests.py`, `tukey_hsd.py`, `correlation.py`
(kendall_tau, CORRELATIONS, places), `seeds.py` (spread_over_seeds), `growth.py` (depth_curve, accumulation_curve),
`stability.py`, `groups.py` (means by side, relation, popularity) and `answer_counts.py`.
"""
