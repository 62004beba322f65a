"""Files in the artifact folder: written under another name, then renamed; the row that owns one has its checksum."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings

from core.errors import UserError
from core.files.atomic_write import written_aside


class ArtifactError(UserError):
    """A file of the artifact folder is missing, damaged, or could not be written."""


def artifact_path(relative: str) -> Path:
    """Return a path below ARTIFACT_ROOT. `relative` comes from kind and row id, never from what people type."""
    return Path(settings.ARTIFACT_ROOT) / relative


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Write a file with `written_aside`; ArtifactError says what could not be written, where, and what to do."""
    try:
        with written_aside(path) as aside:
            yield aside
    except OSError as error:
        raise ArtifactError(
            f"{path.name or path} could not be written to {path.parent}: {error.strerror or error}. "
            "What was there before is unchanged; free some disk space and repeat the step."
        ) from error


def json_bytes(content: Any) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def write_json(path: Path, content: Any) -> None:
    with writing(path) as aside:
        aside.write_bytes(json_bytes(content))


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_sha256(path: Path, expected: str) -> None:
    """Raise ArtifactError unless the file is there and has the checksum its row remembers."""
    if not path.exists():
        raise ArtifactError(f"{path} is missing: restore the artifact folder, or repeat the step that made it.")
    if sha256_of(path) != expected:
        raise ArtifactError(f"{path} is not the file that was written (SHA-256 differs): restore it from a backup.")
