"""Archives whose names and headers are made to fill the memory, or to exhaust the stack."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from core.files.tar_headers import MOST_DESCRIBED, BoundedTarInfo, is_tar
from pooling.graphs.source_data import GraphError
from pooling.layouts.source_files import open_source


def long_named(path: Path, size: int, kind: bytes = tarfile.GNUTYPE_LONGNAME, headers: int = 1) -> Path:
    """Write an archive that begins with the given number of headers, each holding a name of the given length."""
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = kind, size
    with gzip.open(path, "wb") as packed:
        for _ in range(headers):
            packed.write(header.tobuf(tarfile.GNU_FORMAT) + b"a" * size + b"\0" * (-size % tarfile.BLOCKSIZE))
    return path


def with_member(path: Path, name: str) -> Path:
    with tarfile.open(path, "w:gz") as packed:
        member = tarfile.TarInfo(name)
        member.size = 6
        packed.addfile(member, io.BytesIO(b"a\tr\tb\n"))
    return path


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_header_over_the_bound_is_refused_unread(tmp_path: Path, kind: bytes):
    path = long_named(tmp_path / "x.tar.gz", MOST_DESCRIBED + 1, kind)
    with pytest.raises(tarfile.ReadError, match="a name or header of 1,048,577 bytes"):
        tarfile.open(path, "r:gz", tarinfo=BoundedTarInfo).close()
    with pytest.raises(GraphError, match=r"x\.tar\.gz is not a complete tar file"):
        open_source(path)


def test_a_header_over_the_bound_after_the_first_member_is_refused(tmp_path: Path):
    bad = gzip.decompress(long_named(tmp_path / "bad.gz", MOST_DESCRIBED + 1).read_bytes())
    good = gzip.decompress(with_member(tmp_path / "good.gz", "train.tsv").read_bytes())[:1024]
    (tmp_path / "x.tar").write_bytes(good + bad)
    assert is_tar(tmp_path / "x.tar")
    with pytest.raises(GraphError, match=r"x\.tar cannot be read \(a name or header of 1,048,577 bytes"):
        open_source(tmp_path / "x.tar")


def test_thousands_of_headers_one_after_the_other_are_refused(tmp_path: Path):
    with pytest.raises(GraphError, match=r"x\.tar\.gz is not a complete tar file"):
        open_source(long_named(tmp_path / "x.tar.gz", 512, headers=3000))


def test_a_long_name_within_the_bound_is_read(tmp_path: Path):
    name = "folder/" * 40 + "train.tsv"
    assert list(open_source(with_member(tmp_path / "x.tar.gz", name))) == [name]
