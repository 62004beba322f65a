"""Measure the most memory that a training holds: of its GPU, else of its worker."""

import contextlib
import ctypes
import re
import resource
from pathlib import Path

PROCESS = Path("/proc/self")


def reset_peak() -> None:
    """Start a new measurement; where the system does not allow it, the peak is that of the whole process so far."""
    import torch

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)  # what an earlier training freed, and the process kept
    with contextlib.suppress(OSError):
        (PROCESS / "clear_refs").write_text("5")
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()


def peak_bytes(device: str) -> int:
    """Return the most bytes held on `device` since reset_peak; on a CPU with the worker's libraries, about 0.4 GB."""
    import torch

    if device.startswith("cuda"):
        return int(torch.cuda.max_memory_allocated())
    with contextlib.suppress(OSError):
        if found := re.search(r"^VmHWM:\s*(\d+) kB", (PROCESS / "status").read_text(), re.M):
            return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
