"""Check settings that several systems share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pooling.systems.spec import Value


def multiple_of(number: int, label: str, settings: Mapping[str, Value]) -> None:
    """Raise ValueError if `embedding_dim` cannot be cut into parts of `number`."""
    size = int(settings["embedding_dim"])
    if size % number:
        what = "an even number" if number == 2 else f"a multiple of {number}"
        raise ValueError(f"embedding_dim is {size}: {label} needs {what}")


def no_dropout(label: str, settings: Mapping[str, Value]) -> None:
    """Raise ValueError if dropout is on: some numbers of the query are no coordinates of a vector."""
    if settings["dropout"]:
        raise ValueError(f"dropout is {settings['dropout']}: {label} drops nothing, leave it at 0")


def no_penalty(label: str, settings: Mapping[str, Value]) -> None:
    """Raise ValueError if n3 or l2 would keep vectors small that have no size, such as angles."""
    for key in ("n3", "l2"):
        if settings[key]:
            raise ValueError(f"{key} is {settings[key]}: {label} has no vectors to keep small, leave it at 0")
