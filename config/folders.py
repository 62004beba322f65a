"""Say where a local installation keeps its data."""

import contextlib
import os
import stat
import sys
from pathlib import Path

DATABASE, SECRET = "triplepool.sqlite3", "secret_key"


def data_folder(program: Path) -> Path:
    """Return `var/` in a checkout; for a program that pip installed, a folder of the person who runs it."""
    if program.name != "_site":  # setup.py calls it that in a wheel
        return program / "var"
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "triplepool"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home) / "triplepool"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "triplepool"


def make_private(folder: Path) -> None:
    """Make a folder, its SQLite database and its key readable by their owner alone; others may have data in a folder.

    SQLite gives its files -wal and -shm the mode of the database, so it is made first, with the right one.
    """
    new = not folder.exists()
    parents = [parent for parent in folder.parents if not parent.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for parent in parents:  # in a folder that others can write they could put another one in its place
        _take_from_others(parent, 0o755)
    if new or any((folder / name).exists() for name in (DATABASE, SECRET)):
        _take_from_others(folder, 0o700)
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", SECRET):
        _take_from_others(folder / name, 0o600)


def make_database(path: Path) -> None:
    """Make an empty SQLite database that its owner alone can read, unless it is there."""
    with contextlib.suppress(OSError):  # SQLite says what is wrong with the place
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _take_from_others(path: Path, most: int) -> None:
    with contextlib.suppress(OSError):  # not there, or somebody else's
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & ~most and not mode & stat.S_ISVTX:  # a folder for everybody, such as /tmp, stays one
            path.chmod(mode & most)


def is_collected(collected: Path, source: Path) -> bool:
    """Return whether `collectstatic` made the files in `collected` after the last change of a file in `source`."""
    try:
        made = (collected / "staticfiles.json").stat().st_mtime
    except OSError:
        return False
    return all(path.stat().st_mtime <= made for path in source.rglob("*"))
