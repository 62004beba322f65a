"""Planning: how sure the order of the systems is, how much judging is left, and which judgements pay most.

Others use `ANALYSIS`, `plan_json` and `stop_at_target` (sections.py), `read_truth` and `replay_orders` (replay.py), and
from findings.py, which reusability shares, `findings`, `judged_of` and `not_comparable`.
"""
