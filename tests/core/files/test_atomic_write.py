"""A file is written whole, or what was there stays."""

import errno
import os
from pathlib import Path

import pytest

from core.files.artifacts import ArtifactError, writing
from core.files.atomic_write import written_aside


def test_file_is_at_its_path_after_the_end_only_and_on_the_disk(tmp_path, monkeypatch):
    path, synced = tmp_path / "deep" / "figures.txt", []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.fstat(number).st_ino))
    with written_aside(path) as aside:
        aside.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert synced == [path.stat().st_ino]
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_file_that_fails_leaves_the_old_one_and_nothing_else(tmp_path, error):
    path = tmp_path / "figures.txt"
    path.write_text("old")
    with pytest.raises(type(error)), written_aside(path) as aside:
        aside.write_text("half of the n")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_link_stays_a_link(tmp_path):
    link, file = tmp_path / "link", tmp_path / "folder" / "file"
    link.symlink_to(file)
    with written_aside(link) as aside:
        aside.write_text("new")
    assert link.is_symlink() and file.read_text() == "new"


@pytest.mark.parametrize("linked", [False, True])
def test_pipe_is_not_replaced(tmp_path, linked):
    """Run as root, a command that wrote to /dev/stdout or /dev/null put a file in its place."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path = tmp_path / "link" if linked else pipe
    if linked:
        path.symlink_to(pipe)
    with pytest.raises(ArtifactError, match="a device or a pipe"), writing(path) as aside:
        aside.write_text("new")
    assert pipe.is_fifo() and path.is_symlink() == linked and not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("path", ["", ".", "/"])
def test_path_without_a_name_is_told_to_be_a_folder(path):
    """It was a ValueError, and so a traceback of a command."""
    with pytest.raises(ArtifactError, match="Is a directory"), writing(Path(path)):
        pass
