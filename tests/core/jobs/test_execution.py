"""What a job leaves behind on a GPU is given back to other processes when it ends."""

import sys
from types import SimpleNamespace

import pytest

from core.jobs.execution import _give_back_gpu_memory


@pytest.mark.parametrize("used", [True, False])
def test_memory_that_torch_keeps_is_given_back_if_a_gpu_was_used(used, monkeypatch):
    calls = []
    cuda = SimpleNamespace(is_initialized=lambda: used, empty_cache=lambda: calls.append("empty"))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    _give_back_gpu_memory()
    assert calls == ["empty"] * used


def test_torch_is_not_loaded_for_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    _give_back_gpu_memory()
    assert "torch" not in sys.modules
