"""Set for a while how torch computes: the number of CPU threads, products in full float32, layers without fusion."""

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


@contextlib.contextmanager
def full_precision() -> Iterator[None]:
    """Turn TF32 (GPU) and bfloat16 (CPU) products off within, as exact ranks need it."""
    matmul, cudnn = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(matmul)
        torch.backends.cudnn.allow_tf32 = cudnn


@contextlib.contextmanager
def exact_layers(device: torch.device) -> Iterator[None]:
    """Turn PyTorch's fused transformer layers off within, on a GPU: they take a tanh for GELU, which training does not.

    Without this HittER's scores on a GPU are off by 3e-4 of the largest.
    """
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(before and device.type == "cpu")
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)
