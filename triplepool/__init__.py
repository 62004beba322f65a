"""Compare systems of knowledge graph completion under sets of labels: `from triplepool import …` (docs/notebooks.md).

The names are those of the package `evaluation` of a checkout. An installed TriplePool has a copy of it in
`triplepool._lib` that imports nothing from outside, so another project's `evaluation` or `pooling` does no harm.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent
_IS_INSTALLED = (_FOLDER / "_lib").is_dir()  # written when the wheel is built: setup.py
if not _IS_INSTALLED and find_spec("evaluation") is None:
    sys.path.append(str(_FOLDER.parent))
_LIBRARY = import_module("triplepool._lib.evaluation" if _IS_INSTALLED else "evaluation")

__all__ = list(_LIBRARY.__all__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(_LIBRARY, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
