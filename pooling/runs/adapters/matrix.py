"""Read a numpy matrix of scores, one row a question and one column an entity."""

import io
import math
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from tokenize import TokenError
from typing import IO

import numpy as np
from numpy.lib.format import read_array_header_1_0, read_array_header_2_0, read_magic

from pooling.runs.adapters.base import NONE_IMPORTED, Adapter, Answers, Outside, places_by_score, rows_of_names
from pooling.runs.adapters.members import beginnings, beginnings_in, check_unpacked, members, names_of, size_of

MOST_SCORES = 20_000_000  # 1,375 questions of FB15k-237
MOST_HELD = 512 << 20  # bytes of all arrays and texts, since they are in memory at once
HOW = (
    "Give scores (questions × entities), questions (ids of topics.tsv) and entities (keys) as arrays of one .npz, or "
    "scores.npy, topics.tsv and entities.txt in a folder or zip archive"
)


def knows(path: Path) -> bool:
    """Tell whether a file, folder or archive holds a numpy array of scores."""
    return any(name.endswith((".npy", ".npz")) for name in names_of(path))


def _lines(data: bytes, has_header: bool) -> list[str]:
    """Return the first column of a text file, perhaps without its first line."""
    words = [line.split("\t")[0] for line in data.decode("utf-8", "replace").splitlines() if line]
    return words[1:] if has_header else words


def _has_arrays(name: str) -> bool:
    return name.endswith((".npy", ".npz", ".tsv", ".txt"))


def _is_array(name: str) -> bool:
    return name.endswith(".npy")


def _shape(file: IO[bytes]) -> tuple[int, ...]:
    """Return the shape that the header of a .npy file says."""
    read_header = {(1, 0): read_array_header_1_0, (2, 0): read_array_header_2_0}.get(version := read_magic(file))
    if read_header is None:  # 3.0 is for records, whose fields have names
        raise ValueError(f"version {version} of the .npy format")
    try:
        shape: tuple[int, ...] = read_header(file)[0]
    except (ValueError, TokenError) as error:  # numpy shows its own parts, with their places in memory
        raise ValueError("the header of an array is damaged") from error
    return shape


def _check_sizes(outside: Outside, held: int, shapes: Iterable[tuple[int, ...]]) -> None:
    """Raise TrecError if the files have too many bytes, or an array has too many values; nothing is read before."""
    instead = (
        "Register the model as a scorer (import_run --scorer), or keep the first 1,000 of each question as Parquet; "
        f"{NONE_IMPORTED}"
    )
    for shape in shapes:
        if (size := math.prod(shape)) > MOST_SCORES:
            raise outside.refusal(f"holds {size:,} scores; at most {MOST_SCORES:,} are read. {instead}")
        outside.check_rows(size)
    if held > MOST_HELD:
        raise outside.refusal(f"holds {held:,} bytes unpacked; at most {MOST_HELD:,} are read. {instead}")


def _parts(outside: Outside) -> dict[str, np.ndarray]:
    """Return the arrays scores, questions and entities that are there."""
    shapes = beginnings(outside, _is_array, _shape).values()
    _check_sizes(outside, size_of(outside.path, _has_arrays), shapes)
    found: dict[str, np.ndarray] = {}
    for path, data in members(outside, _has_arrays).items():
        name = PurePosixPath(path)
        if name.suffix == ".npz":
            with zipfile.ZipFile(io.BytesIO(data)) as inner:  # in an archive it was measured as it lies there
                check_unpacked(outside, inner.infolist())
                held_shapes = beginnings_in(inner, _is_array, _shape).values()
                _check_sizes(outside, sum(one.file_size for one in inner.infolist()), held_shapes)
            with np.load(io.BytesIO(data), allow_pickle=False) as held:
                found |= {key: held[key] for key in held.files}
        elif name.suffix == ".npy":
            found[name.stem] = np.load(io.BytesIO(data), allow_pickle=False)
        else:
            is_topics = name.stem == "topics"  # export_topics names its columns
            found["questions" if is_topics else name.stem] = np.array(_lines(data, is_topics), dtype=object)
    return found


def read(outside: Outside) -> Answers:
    """Read every score; entities with -inf were not scored and are left out."""
    try:
        found = _parts(outside)
    except (ValueError, EOFError, MemoryError, zlib.error, zipfile.BadZipFile) as error:
        raise outside.refusal(
            f"cannot be read as numpy arrays of numbers and text: {error}; {NONE_IMPORTED}"
        ) from error
    if missing := [name for name in ("scores", "questions", "entities") if name not in found]:
        raise outside.refusal(f"lacks {', '.join(missing)}. {HOW}; {NONE_IMPORTED}")
    scores, questions, entities = found["scores"], found["questions"].ravel(), found["entities"].ravel()
    if scores.dtype.kind not in "fiu" or scores.shape != (len(questions), len(entities)):
        raise outside.refusal(
            f"scores is {scores.dtype} of shape {scores.shape}; it must be numbers of shape ({len(questions)}, "
            f"{len(entities)}), questions × entities; {NONE_IMPORTED}"
        )
    row, column = np.nonzero(scores != -np.inf)
    score = scores[row, column].astype(np.float64)
    left = scores.size - len(row)
    file = rows_of_names(
        outside,
        (row, [str(one) for one in questions]),
        (column, [str(one) for one in entities]),
        score,
        places_by_score(row, score),
    )
    return Answers(file, [f"{left:,} scores are -inf and were left out."] if left else [])


MATRIX = Adapter(
    "numpy",
    "Numpy score matrix",
    "`.npz` with `scores` (questions × entities), `questions` (ids of `topics.tsv`), `entities` (keys); or "
    "`scores.npy`, `topics.tsv`, `entities.txt` in a folder or zip. -inf: not scored.",
    knows,
    read,
)
