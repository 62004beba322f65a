"""Bombs: small files that are huge when they are unpacked or read; and how much memory a command takes with one."""

from __future__ import annotations

import gzip
import io
import os
import resource
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
MOST = 600  # MiB, of a process that is given a bomb
HELD = 4 << 30  # bytes; more end the process, so that a failing test does not take the machine
SIZE = 100_000_000  # bytes of a bomb, unpacked
ENTITIES = 200
Args = list[str]


class Peak(NamedTuple):
    """What a command did with a bomb: its peak in MiB, how it ended, what it said, and bytes of the file."""

    mib: float
    code: int
    said: str
    size: int

    @property
    def is_refused(self) -> bool:
        """Return whether the command ended with an error in words, for what the file is."""
        other = ("Traceback", "choose another name", "is not empty")
        return self.code == 1 and "Error: " in self.said and not any(words in self.said for words in other)


def _gz(path: Path, piece: bytes, size: int = SIZE) -> str:
    """Write a gzip file of a piece again and again."""
    many = piece * max(1, (1 << 20) // len(piece))
    with gzip.open(path, "wb", 9) as file:
        for _ in range(size // len(many) + 1):
            file.write(many)
    return str(path)


def _zip(path: Path, **members: bytes) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name.replace("__", "."), content)
    return str(path)


def _tar(path: Path, name: str, size: int) -> str:
    with tarfile.open(path, "w:gz") as packed:
        member = tarfile.TarInfo(name)
        member.size = size
        packed.addfile(member, io.BytesIO(b"\n" * size))
    return str(path)


def _tar_header(path: Path) -> str:
    """Write an archive whose first member's name is the bomb."""
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 10 * SIZE
    piece = b"a" * (1 << 20)
    with gzip.open(path, "wb", 9) as packed:
        packed.write(header.tobuf(tarfile.GNU_FORMAT))
        for _ in range(header.size // len(piece) + 1):
            packed.write(piece)
    return str(path)


def _provenance(path: Path) -> str:
    """Write a pool of many triples, each found by as many systems as a pool can have."""
    found = ";".join(f"s{i}:tail:{30_000 + i}" for i in range(256))
    with gzip.open(path, "wt") as file:
        for i in range(4_800):
            file.write(f"e{i % ENTITIES}\tr1\te{i // ENTITIES}\t1\t{found}\n")
    return str(path)


def _matrix(path: Path, rows: int, columns: int) -> str:
    """Write a matrix of scores with one value."""

    def array(values: np.ndarray) -> bytes:
        out = io.BytesIO()
        np.save(out, values)
        return out.getvalue()

    scores = array(np.zeros((rows, columns), np.int8))
    names = {"questions": array(np.array(["tail:e0:r0"] * rows)), "entities": array(np.array(["e1"] * columns))}
    return _zip(path, scores__npy=scores, **{f"{name}__npy": values for name, values in names.items()})


def _parquet(path: Path, rows: int) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), pa.array(["tail:e0:r0"]))
    pq.write_table(pa.table({"question": names, "entity": np.zeros(rows, np.int32), "score": np.zeros(rows)}), path)
    return str(path)


def _backup(path: Path) -> str:
    with tarfile.open(path, "w:gz") as packed:
        member = tarfile.TarInfo("manifest.json")
        member.size = 2 * SIZE
        packed.addfile(member, io.BytesIO(b"[" * member.size))
    return str(path)


def _seeds(file: str) -> Args:
    return ["import_pool", "g", "--name", "more", "--file", "good-pool.tsv", "--seeds", file]


def _pool(file: str) -> Args:
    return ["import_pool", "g", "--name", "more", "--file", file, "--seeds", "good-seeds.tsv"]


def _run(file: str) -> Args:
    return ["import_run", "g", file, "--system", "new"]


def _graph(file: str) -> Args:
    return ["import_graph", "new", file, "--yes"]


LINE, GOOD_RUN = b"e0\tr1\te1\t", b"tail:e0:r1 Q0 e1 1 9.5 mine\n"
# importer -> bomb -> the command, given a folder to write the file to
BOMBS: dict[str, dict[str, Callable[[Path], Args]]] = {
    "seeds": {
        "blank lines": lambda at: _seeds(_gz(at / "x.tsv.gz", b"\n")),
        "one line": lambda at: _seeds(_gz(at / "x.tsv.gz", b"x")),
    },
    "pools": {
        "one triple": lambda at: _pool(_gz(at / "x.tsv.gz", LINE + b"1\n")),
        "provenance": lambda at: _pool(_provenance(at / "x.tsv.gz")),
    },
    "labels": {
        "one label": lambda at: ["import_labels", "p", _gz(at / "x.tsv.gz", LINE + b"Y\tsomebody\n")],
        "bad lines": lambda at: ["import_labels", "p", _gz(at / "x.tsv.gz", b"x\n", 19_000_000)],
        "deep JSON": lambda at: ["import_labels", "p", _gz(at / "x.jsonl.gz", b"[" * 1_000_000 + b"\n")],
    },
    "qrels": {
        "one label": lambda at: ["import_qrels", "p", "new", _gz(at / "x.tsv.gz", LINE + b"Y\n")],
        "bad lines": lambda at: ["import_qrels", "p", "new", _gz(at / "x.tsv.gz", b"x\n", 19_000_000)],
        "one line": lambda at: ["import_qrels", "p", "new", _gz(at / "x.tsv.gz", b"x")],
    },
    "test sets": {
        "one label": lambda at: ["import_test_set", "g", _gz(at / "x.tsv.gz", LINE + b"Y\n"), "--name", "more"],
        "zip": lambda at: ["import_test_set", _zip(at / "x.zip", test_set__json=b"[" * SIZE)],
    },
    "runs": {
        "one line": lambda at: _run(_gz(at / "x.txt.gz", b"x")),
        "one answer": lambda at: _run(_gz(at / "x.txt.gz", GOOD_RUN)),
        "one answer, 19 MB": lambda at: _run(_gz(at / "x.txt.gz", GOOD_RUN, 19_000_000)),
        "numpy": lambda at: _run(_matrix(at / "x.npz", 4_300, 4_300)),
        "Parquet": lambda at: _run(_parquet(at / "x.parquet", 20_000_000)),
        "deep JSON": lambda at: _run(_zip(at / "x.zip", eval_forward__json=b"[" * 19_000_000)),
    },
    "graphs": {
        "blank lines": lambda at: _graph(_gz(at / "train.tsv.gz", b"\n")),
        "one triple": lambda at: _graph(_gz(at / "graph.tsv.gz", b"a\tr\tb\n", 19_000_000)),
        "one line": lambda at: _graph(_gz(at / "graph.tsv.gz", b"x\t", 19_000_000)),
        "zip": lambda at: _graph(_zip(at / "x.zip", train__tsv=b"a\tr\tb\n" * (SIZE // 6))),
        "tar": lambda at: _graph(_tar(at / "x.tar.gz", "train.tsv", SIZE)),
        "tar header": lambda at: _graph(_tar_header(at / "x.tar.gz")),
        "Turtle": lambda at: _graph(_gz(at / "graph.ttl.gz", b"[] <r> [] .\n", 19_000_000)),
        "N-Triples": lambda at: _graph(_gz(at / "graph.nt.gz", b"<a:a> <a:r> <a:b> .\n", 19_000_000)),
    },
    "backups": {
        "manifest": lambda at: ["restore", _backup(at / "x.tar.gz")],
        "tar header": lambda at: ["restore", _tar_header(at / "x.tar.gz")],
    },
}


def _environment(site: Path) -> dict[str, str]:
    return os.environ | {
        "TRIPLEPOOL_VAR": str(site),
        "ARTIFACT_ROOT": str(site / "artifacts"),
        "DATABASE_URL": f"sqlite:///{site / 'site.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "OMP_NUM_THREADS": "1",
    }


def make_site(site: Path) -> None:
    """Make a site with graph g and pool p, whose good files lie beside it."""
    triples = [f"e{i}\tr{i % 2}\te{(i + 1) % ENTITIES}\n" for i in range(ENTITIES)]
    source = site / "source"
    source.mkdir(parents=True)
    for split, part in {"train": triples[:-4], "valid": triples[-4:-2], "test": triples[-2:]}.items():
        (source / f"{split}.tsv").write_text("".join(part))
    (site / "good-seeds.tsv").write_text(triples[-1])
    (site / "good-pool.tsv").write_bytes(LINE + b"1\n" if LINE.decode() not in triples else b"e0\tr1\te3\t1\n")
    commands = (
        ["migrate", "-v0"],
        ["import_graph", "g", str(source), "--yes"],
        ["import_pool", "g", "--name", "p", "--file", "good-pool.tsv", "--seeds", "good-seeds.tsv"],
    )
    for command in commands:
        subprocess.run([sys.executable, ROOT / "manage.py", *command], cwd=site, env=_environment(site), check=True)


def place_of(site: Path, importer: str) -> Path:
    """Return where an importer gets its bomb: a site with data, or an empty one for backups, else they stay unread."""
    place = site / "empty" if importer == "backups" else site
    place.mkdir(exist_ok=True)
    return place


def peak_of(site: Path, command: Args) -> Peak:
    """Run a command in a process of its own; ru_maxrss counts what it had in memory, not what it mapped.

    A process between this one and the command keeps the memory of this one out: a child begins with its parent's.
    """
    file = next(Path(one) for one in command if one.startswith("/") and Path(one).is_file())
    between = [sys.executable, __file__, sys.executable, str(ROOT / "manage.py"), *command]
    with (site / "said").open("w") as errors:
        done = subprocess.run(
            between, cwd=site, env=_environment(site), stdout=subprocess.PIPE, stderr=errors, text=True, check=True
        )
    kib, code = map(int, done.stdout.split())
    said = (site / "said").read_text(encoding="utf-8", errors="replace").strip()
    return Peak(kib / 1024, code, said, file.stat().st_size)


def _run_within_limit(command: Args) -> None:
    """Run a command and print its peak in KiB and how it ended."""
    resource.setrlimit(resource.RLIMIT_DATA, (HELD, HELD))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    print(used.ru_maxrss, process.returncode)


if __name__ == "__main__":
    _run_within_limit(sys.argv[1:])
