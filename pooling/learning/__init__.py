"""Train systems that learn vectors.

`loop.py` trains one (`train_system`) and reports errors as `Diverged` and `TrainingCancelled`. `batches.py`,
`losses.py` and `optimizers.py` are the parts of a step, `validation.py` its MRR, `memory.py` an
estimate of what it needs (`estimate_bytes`).
"""
