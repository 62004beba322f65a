"""Read a numpy matrix of scores, one row a question and one column an entity."""

import io
import zipfile
import zlib
from pathlib import Path, PurePosixPath

import numpy as np

from pooling.runs.adapters.base import NONE_IMPORTED, Adapter, Answers, Outside, places_by_score, rows_of_names
from pooling.runs.adapters.members import check_unpacked, members, names_of

MOST_SCORES = 20_000_000  # 1,375 questions of FB15k-237
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


def _parts(outside: Outside) -> dict[str, np.ndarray]:
    """Return the arrays scores, questions and entities that are there."""
    found: dict[str, np.ndarray] = {}
    for path, data in members(outside, lambda name: name.endswith((".npy", ".npz", ".tsv", ".txt"))).items():
        name = PurePosixPath(path)
        if name.suffix == ".npz":
            with zipfile.ZipFile(io.BytesIO(data)) as inner:  # in an archive it was measured as it lies there
                check_unpacked(outside, inner.infolist())
            with np.load(io.BytesIO(data), allow_pickle=False) as held:
                found |= {key: held[key] for key in held.files}
        elif name.suffix == ".npy":
            found[name.stem] = np.load(io.BytesIO(data), allow_pickle=False)
        else:
            is_topics = name.stem == "topics"  # export_topics names its columns
            found["questions" if is_topics else name.stem] = np.array(_lines(data, is_topics), dtype=str)
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
    if scores.size > MOST_SCORES:
        raise outside.refusal(
            f"holds {scores.size:,} scores; at most {MOST_SCORES:,} are read. Register the model as a scorer "
            f"(import_run --scorer), or keep the first 1,000 of each question as Parquet; {NONE_IMPORTED}"
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
