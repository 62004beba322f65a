"""Set the number of CPU threads of torch for a while."""

import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def cpu_threads(number: int | None) -> Iterator[None]:
    """Use `number` CPU threads within: two busy two-thread processes on two cores are far slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(number or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
