"""Which triples are given to people, and when.

next_batch.py plans and releases batches (release_next, release_when_short, may_release, stop_reason, unreleased,
release_growth); items.py turns planned batches into items with slots (BatchPlan, make_batches) and lists batches
(batch_rows); audit_sample.py draws filtered triples (draw_audit, plan_audit_batch); settings.py sets order and stopping
(set_order, set_stopping).
"""
