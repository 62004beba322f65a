"""List the forms of runs; pages, API, command and docs are made from it. The first that knows a file reads it."""

import zipfile

from pooling.runs.adapters.base import Adapter, Answers, Outside
from pooling.runs.adapters.libkge import LIBKGE
from pooling.runs.adapters.matrix import MATRIX
from pooling.runs.adapters.members import begins_as_zip, is_archive
from pooling.runs.adapters.parquet import PARQUET
from pooling.runs.adapters.pykeen import PYKEEN
from pooling.runs.adapters.simkgc import SIMKGC
from pooling.runs.adapters.trec import TREC
from pooling.runs.trec_read import TrecError

AUTO = "auto"  # the form is told by the file
ADAPTERS: dict[str, Adapter] = {one.name: one for one in (PYKEEN, PARQUET, LIBKGE, MATRIX, SIMKGC, TREC)}
SUFFIXES = (".parquet", ".tsv", ".csv", ".json", ".yaml", ".npy", ".npz", ".zip")  # by which some forms are told


def known_suffix(name: str) -> str:
    """Return the suffix of a file's name if a form is told by it, else nothing."""
    return next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), "")


def read_answers(outside: Outside, form: str = AUTO) -> Answers:
    """Read a run in a form of the registry; TrecError if the form is unknown or the file is not of it."""
    if form not in (AUTO, *ADAPTERS):
        raise TrecError(f"Unknown form {form[:80]!r}: give {AUTO}, {', '.join(ADAPTERS)}.")
    try:
        if form != AUTO:
            return ADAPTERS[form].read(outside)
        if begins_as_zip(outside.path) and not is_archive(outside.path):
            raise outside.refusal("is not a complete zip archive; copy or pack it again. Nothing was imported.")
        for adapter in ADAPTERS.values():
            if adapter.knows(outside.path):
                return adapter.read(outside)
    except zipfile.BadZipFile as error:
        raise outside.refusal(f"is a damaged zip archive ({error}); nothing was imported.") from error
    raise outside.refusal(f"is in no known format; nothing was imported. Known formats: {', '.join(ADAPTERS)}.")
