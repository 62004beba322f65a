"""Read what PyTorch saved, pickled objects of any class among it, without running code of the file.

A pickle names functions and classes that its reader imports and calls. This one imports nothing but the few functions
that put tensors together; whatever else the file names becomes an `Inert` object, which keeps the attributes.
"""

import pickle
from collections import OrderedDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch._utils import _rebuild_parameter, _rebuild_tensor_v2

from pooling.training.outside.base import ModelError

_SAFE = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor_v2,
    ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    ("torch", "Size"): torch.Size,
    ("__builtin__", "set"): set,
    ("builtins", "set"): set,
}


class Inert:
    """Stand for an object of a class that was not imported: `named` is the class, `state` its attributes."""

    named = ""

    args: tuple[Any, ...]
    state: dict[str, Any]
    content: list[Any]

    def __new__(cls, *args: Any) -> "Inert":  # a pickle makes most objects without __init__
        made = super().__new__(cls)
        made.args, made.state, made.content = args, {}, []
        return made

    def __setstate__(self, state: Any) -> None:
        self.state = state if isinstance(state, dict) else {}

    def __call__(self, *args: Any) -> "Inert":
        return Inert(*args)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.content.append((key, value))

    def append(self, value: Any) -> None:
        self.content.append(value)

    def extend(self, values: Any) -> None:
        self.content.extend(values)

    def __hash__(self) -> int:
        return id(self)

    @property
    def made_by(self) -> str:
        """Return the name of the class: that of a reconstructed object is its first argument."""
        first = self.args[0] if self.args else None
        return first.named if isinstance(first, type) and issubclass(first, Inert) else type(self).named


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return _SAFE.get((module, name)) or type("Inert", (Inert,), {"named": f"{module}.{name}"})


def _load(file: Any, **options: Any) -> Any:
    return _Unpickler(file, **options).load()


_PICKLE = SimpleNamespace(Unpickler=_Unpickler, load=_load, __name__=__name__)


def read_inert(path: Path) -> Any:
    """Return the content of a file of torch.save, tensors on the CPU; ModelError if it is none."""
    try:
        return torch.load(path, map_location="cpu", pickle_module=_PICKLE, weights_only=False)
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or error}.") from error
    except Exception as error:  # whatever a damaged or hostile file may cause
        raise ModelError(
            f"{path.name} is no file that torch.save wrote, or is damaged ({type(error).__name__}: "
            f"{str(error).splitlines()[0][:200] if str(error) else 'no reason given'}). Copy it again."
        ) from error
