"""Functions that are named by their dotted path and imported when they are called: a command starts with little."""

from dataclasses import dataclass
from typing import Any

from django.utils.module_loading import import_string


@dataclass(frozen=True)
class Later:
    """A function that is imported when it is first called. A signal must hold it: connect(..., weak=False)."""

    path: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return import_string(self.path)(*args, **kwargs)
