"""Read plain layouts: three files of triples, or one of all, tab- or otherwise separated, with or without a header."""

from pathlib import PurePosixPath

from pooling.enums import Split
from pooling.graphs.source_data import GraphError
from pooling.layouts.layout import Found, LayoutOptions
from pooling.layouts.numbered import with_dictionaries
from pooling.layouts.source_files import SourceFiles
from pooling.layouts.split_names import find_splits, split_of
from pooling.layouts.triple_tables import read_splits

ENDINGS = (".tsv", ".txt", ".csv", ".nt", ".triples", "")
READ_ELSEWHERE = ("entity", "entities", "relation", "relations", "readme", "license", "licence", "types", "nodes")


def three_files(source: SourceFiles, options: LayoutOptions) -> Found | None:
    """Read files named for train, valid and test; valid may be missing."""
    paths = find_splits((path for path in source if _is_table(path)), options.folder)
    if not paths:
        return None
    found = Found("files of triples", read_splits(source, paths, options), used=set(paths.values()))
    with_dictionaries(source, found)
    return found


def one_file(source: SourceFiles, options: LayoutOptions) -> Found | None:
    """Read the only table of triples that there is; it has no splits."""
    candidates = [path for path in source if _is_table(path) and not _is_beside(path)]
    if not candidates:
        return None
    if named := [path for path in candidates if split_of(path) or split_of(path, "2id")]:
        raise GraphError(f"{', '.join(named[:5])} and no file of train: add it.")
    if len(candidates) > 1:
        raise GraphError(f"No file is named for train, and {', '.join(candidates[:5])} may all hold triples: give one.")
    found = Found("one file of triples", read_splits(source, {Split.TRAIN: candidates[0]}, options))
    found.used.add(candidates[0])
    return found


def _is_table(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in ENDINGS


def _is_beside(path: str) -> bool:
    stem = PurePosixPath(path).name.lower()
    return stem.startswith(READ_ELSEWHERE)
