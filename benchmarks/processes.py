"""Read from /proc what processes have: children and memory. Linux only."""

from pathlib import Path


def children_of(process: int) -> list[int]:
    """Return the processes that a process started; OSError if it is gone."""
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def resident(key: str, process: int | str = "self") -> float:
    """Return VmRSS (now) or VmHWM (at most) of a process in MiB."""
    status = Path(f"/proc/{process}/status")
    for line in status.read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"{status} has no {key}")
