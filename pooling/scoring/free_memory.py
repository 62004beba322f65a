"""Tell how much memory is free on a device, and refuse what does not fit before it is begun."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import torch

from core.errors import UserError
from core.machine import control_groups, in_words


class NoRoomError(UserError, ValueError):
    """Report that a device has less memory free than what is asked for needs."""


def check_free(needed: int, device: str, what: str, advice: str) -> None:
    """Raise NoRoomError, with what needs how much and what to do, if less is free on the device."""
    free = free_bytes(device)
    if free is not None and needed > free:
        raise NoRoomError(f"{what} about {in_words(needed)}, {in_words(free)} are free: {advice}")


def free_bytes(device: str) -> int | None:
    """Return the bytes that a training may take on a GPU or of this machine's memory; None if unknown."""
    if device.startswith("cuda"):
        torch.cuda.empty_cache()  # what torch holds of freed blocks counts as taken
        return int(torch.cuda.mem_get_info(device)[0])
    found = []
    with contextlib.suppress(OSError):
        if line := re.search(r"^MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text(), re.M):
            found.append(int(line[1]) * 1024)
    found += _left_in_groups()
    if not found and "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(found, default=None)


def _left_in_groups() -> Iterator[int]:
    """Yield the bytes left in each control group around this process that has a limit."""
    for group in control_groups():
        with contextlib.suppress(OSError, ValueError):  # a group without the file, or "max"
            limit = int((group / "memory.max").read_text())
            cached = re.findall(r"^(?:in)?active_file (\d+)$", (group / "memory.stat").read_text(), re.M)
            # files that were read count as taken, and go when somebody needs the room
            yield limit - int((group / "memory.current").read_text()) + sum(map(int, cached))
