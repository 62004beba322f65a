"""Free memory: on a GPU what its driver says, on a CPU the least of the machine's and the containers' around."""

import pytest
import torch

from core import machine
from core.machine import in_words
from pooling.scoring import free_memory


def test_free_bytes_of_a_gpu_are_read_after_freed_blocks_are_given_back(monkeypatch):
    calls = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: calls.append("empty"))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: calls.append(device) or (7, 9))
    assert free_memory.free_bytes("cuda:0") == 7
    assert calls == ["empty", "cuda:0"]


def test_free_bytes_within_this_machine():
    free = free_memory.free_bytes("cpu")
    assert free is not None and 10_000_000 < free < 1 << 50


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """A made-up tree of control groups in which this process is in /service/worker."""
    monkeypatch.setattr(machine, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(machine, "OWN_GROUP", tmp_path / "own")
    (tmp_path / "own").write_text("4:memory:/old\n0::/service/worker\n")

    def limit(group, most, taken=0, inactive=0, active=0):
        folder = tmp_path / "groups" / group
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "memory.max").write_text(f"{most}\n")
        (folder / "memory.current").write_text(f"{taken}\n")
        (folder / "memory.stat").write_text(
            f"anon 1500000\nfile 7000000\ninactive_anon 5\ninactive_file {inactive}\nactive_file {active}\n"
        )

    return limit


def test_free_bytes_in_a_container_counts_cached_files_as_free(groups):
    groups("", 9_000_000, 8_500_000, 6_000_000, 800_000)
    assert free_memory.free_bytes("cpu") == 500_000 + 6_800_000
    groups("", "max")
    free = free_memory.free_bytes("cpu")
    assert free is not None and free > 9_000_000  # that of the machine


@pytest.mark.parametrize("smallest", ["", "service", "service/worker"])
def test_free_bytes_are_those_of_the_narrowest_group_around(groups, smallest):
    for group in ("", "service", "service/worker"):
        groups(group, 9_000_000, 8_000_000)
    groups("service/other", 5, 3)  # no concern of ours
    groups("old", 5, 3)
    assert free_memory.free_bytes("cpu") == 1_000_000
    groups(smallest, 5000, 1000)
    assert free_memory.free_bytes("cpu") == 4000


def test_free_bytes_of_a_group_without_a_limit_are_those_of_the_next(groups):
    groups("", 9_000_000, 1_000_000)
    groups("service/worker", "max")
    assert free_memory.free_bytes("cpu") == 8_000_000


@pytest.mark.parametrize("own", ["", "0::/\n", "0::/../elsewhere\n", None])
def test_free_bytes_where_the_own_group_is_not_seen_are_those_of_the_outermost(groups, tmp_path, own):
    groups("", 9_000_000, 1_000_000)
    groups("service", 5000)
    (tmp_path / "own").write_text(own) if own is not None else (tmp_path / "own").unlink()
    assert free_memory.free_bytes("cpu") == 8_000_000


@pytest.mark.parametrize(
    ("number", "words"), [(-5, "0 MB"), (1_400_000, "1 MB"), (1_530_000_000, "1.5 GB"), (49_400_000_000, "49 GB")]
)
def test_in_words(number, words):
    assert in_words(number) == words
