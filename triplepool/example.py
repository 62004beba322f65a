"""Give the runs and labels that the docstrings take their examples from: `from triplepool.example import ranked`."""

from importlib import import_module

import triplepool

_EXAMPLE = import_module(f"{triplepool._LIBRARY.__name__}.notebooks.example")
prepared, qrels, ranked, runs, state = (
    getattr(_EXAMPLE, name) for name in ("prepared", "qrels", "ranked", "runs", "state")
)
