"""The GPUs and the memory that this process may use, asked without torch: a worker forks before it touches a GPU."""

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

GROUPS, OWN_GROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
ASK = ["nvidia-smi", "--query-gpu=uuid,name,memory.total", "--format=csv,noheader,nounits"]


class Device(NamedTuple):
    """A GPU or the CPU, with its memory in bytes (0: unknown); `key` is what CUDA_VISIBLE_DEVICES calls a GPU."""

    name: str
    memory: int
    key: str = ""


def _all_gpus() -> list[Device]:
    """Return the GPUs of this machine; none without the tool of its driver."""
    try:
        told = subprocess.run(ASK, capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [[cell.strip() for cell in line.split(",")] for line in told.splitlines()]
    return [Device(name, int(mib) << 20, uuid) for uuid, name, mib in rows if mib.isdecimal()]


def gpus() -> list[Device]:
    """Return the GPUs that CUDA_VISIBLE_DEVICES allows, by the key that it gives them; without it, all."""
    every = _all_gpus()
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None:
        return every
    found = []
    for key in filter(None, (key.strip() for key in allowed.split(","))):
        alike = [one for i, one in enumerate(every) if key == str(i) or one.key.startswith(key)]
        found += [alike[0]._replace(key=key)] if alike else []
    return found


@cache
def own_device() -> Device:
    """Return what this process computes with: the first GPU that it sees, else the CPU."""
    return next(iter(gpus()), Device("CPU", machine_memory()))


def machine_memory() -> int:
    """Return the bytes of this machine's memory, or of the smallest control group around this process; 0: unknown."""
    found = []
    if "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for group in control_groups():
        with contextlib.suppress(OSError, ValueError):  # a group without the file, or "max"
            found.append(int((group / "memory.max").read_text()))
    return min(found, default=0)


def control_groups() -> Iterator[Path]:
    """Yield the control groups (version 2: containers, services) around this process, each of which limits it."""
    own = "/"
    with contextlib.suppress(OSError):
        if line := re.search(r"^0::(/.*)$", OWN_GROUP.read_text(), re.M):
            own = line[1]
    path = PurePosixPath(own)
    for inner in (path, *path.parents):
        yield GROUPS / inner.relative_to("/")


def in_words(number: int) -> str:
    """Return bytes as people say them: 49 GB, 1.5 GB, 320 MB."""
    if number < 1e9:
        return f"{max(number, 0) / 1e6:.0f} MB"
    return f"{number / 1e9:.1f} GB" if number < 1e10 else f"{number / 1e9:.0f} GB"
