"""Planning: how sure the order of the systems is, how much judging is left, and which judgements pay most.

Others use `ANALYSIS` and `plan_json` (sections.py), `stop_at_target` (stopping.py), `read_truth` and `replay_orders`
(replay.py), and from findings.py, which reusability shares, `findings`, `judged_of` and `not_comparable`.
"""
