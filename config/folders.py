"""Say where a local installation keeps its data."""

import os
import sys
from pathlib import Path


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
