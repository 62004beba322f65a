"""List the forms of models from elsewhere; the command and the docs are made from it."""

from collections.abc import Callable
from pathlib import Path

from pooling.training.outside import libkge, pykeen, vectors
from pooling.training.outside.base import ModelError, OutsideModel

FORMS: dict[str, Callable[..., OutsideModel]] = {"pykeen": pykeen.read, "libkge": libkge.read, "vectors": vectors.read}


def read_model(folder: Path, form: str, score: str = "", halves: bool = False) -> OutsideModel:
    """Read a model in a form of FORMS; `score` and `halves` are of the form vectors. ModelError says what is wrong."""
    if form not in FORMS:
        raise ModelError(f"Unknown form {form[:80]!r}: give {', '.join(FORMS)}.")
    if not folder.is_dir():
        raise ModelError(f"{folder} is no folder.")
    if form == "vectors":
        return vectors.read(folder, score, halves)
    if score or halves:
        raise ModelError("--score and --halves are of the form vectors: other forms say this themselves.")
    return FORMS[form](folder)
