"""Write and read checkpoints of a training; a failed write leaves the old one whole."""

from pathlib import Path
from typing import Any

import torch

from core.files.atomic_write import written_aside

LATEST, BEST = "checkpoint.pt", "best.pt"
WITHIN = "within.pt"  # within an epoch that was interrupted


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write `state` (tensors and plain values) to `path`; OSError if the disk refuses."""
    try:
        with written_aside(path) as aside, aside.open("wb") as file:
            torch.save(state, file)
    except RuntimeError as error:  # torch hides the OSError of the write behind its own
        reason = error.__context__
        if isinstance(reason, OSError):
            raise OSError(reason.errno, reason.strerror, str(path)) from error
        raise OSError(f"cannot write {path}: {error}") from error


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read what `write_checkpoint` wrote, onto the CPU; run no code from the file."""
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state
