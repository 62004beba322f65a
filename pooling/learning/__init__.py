"""Train systems that learn vectors.

`loop.py` trains one (`train_system`) and reports errors as `Diverged` and `TrainingCancelled`. `batches.py` and
`losses.py` are the parts of a step, `memory.py` says what it needs (`estimate_bytes`) and took (`peak_bytes`).
"""
