"""Write sections of docs/measured, each between its marks, aside and then renamed.

Most go to benchmarks.md there, long studies to a page of their own. docs/benchmarks.md sums them up by hand.
"""

import os
import platform
import re
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Self

MEASURED = Path(__file__).resolve().parent.parent / "docs" / "measured"
OWN_PAGE = {"fb15k237-study": "fb15k237.md", "wn18rr-study": "wn18rr.md"}


def write_section(name: str, text: str, path: Path | None = None) -> None:
    """Replace the text between `<!-- begin NAME -->` and its end mark; add the marks at the end if missing."""
    path = path or MEASURED / OWN_PAGE.get(name, "benchmarks.md")
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    old = path.read_text(encoding="utf-8") if path.exists() else "# Benchmarks\n"
    if begin not in old or end not in old:
        old = f"{old.rstrip()}\n\n{begin}\n{end}\n"
    head, _, rest = old.partition(begin)
    _, _, tail = rest.partition(end)
    aside = path.with_name(f".{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    aside.write_text(f"{head}{begin}\n{text.strip()}\n{end}{tail}", encoding="utf-8")
    aside.replace(path)


def machine() -> str:
    """Describe processor, cores and torch."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [x.partition(":")[2].strip() for x in cpuinfo.read_text().splitlines() if "model name" in x]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, torch {version('torch')}"


@dataclass(frozen=True)
class Summary:
    """The main figure of a benchmark, in seconds: what every script prints as its last line, and all.py reads."""

    path: str  # what was timed
    ours: float
    against: str  # a peer, or a target
    theirs: float
    floor: float | None = None

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours

    def __str__(self) -> str:
        bound = "" if self.floor is None else f", floor {self.floor:.3g} s"
        return f"{self.path}: {self.ratio:.3g} x {self.against} ({self.ours:.3g} s, {self.theirs:.3g} s{bound})"

    @classmethod
    def read(cls, line: str) -> Self:
        """Read such a line; ValueError for another one."""
        number = r"([\d.e+-]+) s"
        found = re.fullmatch(rf"(.+): [\d.e+-]+ x (.+) \({number}, {number}(?:, floor {number})?\)", line)
        if found is None:
            raise ValueError(f"not the last line of a benchmark: {line!r}")
        path, against, ours, theirs, floor = found.groups()
        return cls(path, float(ours), against, float(theirs), float(floor) if floor else None)
