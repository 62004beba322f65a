"""The GPUs and the memory of a machine, as its driver and its control groups tell them."""

from __future__ import annotations

import subprocess

import pytest

from core import machine
from core.machine import Device, gpus

TWO = "GPU-aa11, NVIDIA A, 24564\nGPU-bb22, NVIDIA B, 81920\n"
A, B = Device("NVIDIA A", 24564 << 20, "GPU-aa11"), Device("NVIDIA B", 81920 << 20, "GPU-bb22")


@pytest.fixture
def driver(monkeypatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(subprocess, "run", lambda command, **given: subprocess.CompletedProcess(command, 0, TWO))


def test_without_a_driver_there_is_no_gpu(monkeypatch):
    monkeypatch.setattr(machine, "ASK", ["no-such-tool"])
    assert gpus() == []


@pytest.mark.parametrize(
    ("allowed", "found"),
    [
        (None, [A, B]),
        ("", []),
        ("-1", []),
        ("1", [B._replace(key="1")]),
        ("1, 0", [B._replace(key="1"), A._replace(key="0")]),
        ("GPU-bb", [B._replace(key="GPU-bb")]),
        ("5", []),
    ],
)
def test_gpus_are_those_that_the_environment_allows(driver, monkeypatch, allowed, found):
    if allowed is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", allowed)
    assert gpus() == found


def test_own_device_is_the_first_gpu_or_the_cpu_with_its_memory(driver, monkeypatch):
    assert machine.own_device.__wrapped__() == A
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    device = machine.own_device.__wrapped__()
    assert device == Device("CPU", machine.machine_memory()) and device.memory > 10**8


def test_memory_is_that_of_the_smallest_control_group(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "GROUPS", tmp_path)
    monkeypatch.setattr(machine, "OWN_GROUP", tmp_path / "own")
    (tmp_path / "own").write_text("0::/outer/inner\n")
    whole = machine.machine_memory()
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    (tmp_path / "outer" / "memory.max").write_text("1000\n")
    (tmp_path / "outer" / "inner" / "memory.max").write_text("max\n")
    assert whole > machine.machine_memory() == 1000
