"""The peak of a training is its own, not that of what the worker did before."""

from __future__ import annotations

import numpy as np

from pooling.learning import memory as peak_memory
from pooling.learning.memory import peak_bytes, reset_peak


def test_peak_counts_from_the_reset(tmp_path):
    reset_peak()
    before = peak_bytes("cpu")
    block = np.ones(20_000_000)  # 160 MB
    held = peak_bytes("cpu")
    del block
    assert 150e6 < held - before < 220e6
    assert abs(peak_bytes("cpu") - held) < 1e6  # a peak outlives what caused it; the kernel counts by pages
    reset_peak()
    assert peak_bytes("cpu") < held - 120e6


def test_without_proc_the_peak_is_that_of_the_process(tmp_path, monkeypatch):
    monkeypatch.setattr(peak_memory, "PROCESS", tmp_path / "nothing")
    reset_peak()
    assert peak_bytes("cpu") > 50e6
