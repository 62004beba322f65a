"""Find the files of train, valid and test by their names, in one folder of a source."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from pooling.enums import Split
from pooling.graphs.source_data import GraphError

WORDS = {
    Split.TRAIN: ("train", "training"),
    Split.VALID: ("valid", "validation", "val", "dev", "development"),
    Split.TEST: ("test", "testing"),
}
NOT_TRIPLES = ("negatives", "negative", "neg", "inverse", "long")  # test_negatives.txt is no test


def split_of(path: str, suffix: str = "") -> Split | None:
    """Return the split that a file is named for, such as dev.tsv or wn18-train.txt; `suffix` is a part of its stem."""
    parts = re.split(r"[-_.]", PurePosixPath(path).name.lower().split(".")[0].removesuffix(suffix))
    if any(part in NOT_TRIPLES for part in parts):
        return None
    return next((split for split, words in WORDS.items() if parts[0] in words or parts[-1] in words), None)


def find_splits(paths: Iterable[str], folder: str, suffix: str = "") -> dict[Split, str]:
    """Return the file of each split, of the one folder that has train; {} if there is no such folder.

    GraphError if several folders have splits and `folder` is not one of them, or if a split has two files.
    """
    by_folder: dict[str, dict[Split, list[str]]] = {}
    for path in paths:
        if (split := split_of(path, suffix)) is not None:
            by_folder.setdefault(str(PurePosixPath(path).parent), {}).setdefault(split, []).append(path)
    with_train = {name: splits for name, splits in by_folder.items() if Split.TRAIN in splits}
    if not with_train:
        return {}
    if folder:
        with_train = {name: of for name, of in with_train.items() if name == folder or name.endswith(f"/{folder}")}
    if len(with_train) > 1:
        names = ", ".join(sorted(with_train))
        raise GraphError(f"Splits lie in {len(with_train)} folders ({names}): choose one with --folder.")
    if not with_train:
        raise GraphError(f"There is no folder {folder} with a file of train.")
    (splits,) = with_train.values()
    splits = {split: _plain(split, files, suffix) for split, files in splits.items()}
    if double := [split for split, files in splits.items() if len(files) > 1]:
        files = " and ".join(sorted(splits[double[0]]))
        raise GraphError(f"{double[0].value} is there {len(splits[double[0]])} times ({files}): keep one of them.")
    return {split: files[0] for split, files in splits.items()}


def _plain(split: Split, files: list[str], suffix: str) -> list[str]:
    """Return the file that is named for the split alone (train.tsv, not train_5.tsv) if there is one, else all."""
    stems = {path: PurePosixPath(path).name.lower().split(".")[0].removesuffix(suffix) for path in files}
    plain = [path for path, stem in stems.items() if stem in WORDS[split]]
    return plain if len(plain) == 1 else files
