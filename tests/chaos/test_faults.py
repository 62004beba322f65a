"""Faults are drawn, what fails is put down to them, and chaos stays on this machine."""

from __future__ import annotations

import socket
import sys
from itertools import islice
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from benchmarks.chaos.campaign import MANAGER, Options, Result, problems, table
from benchmarks.chaos.faults import FAULTS, Fault, Window, draw
from benchmarks.chaos.people import Failed
from benchmarks.chaos.site import ChaosError, Child, on_loopback, wait_for_port
from benchmarks.chaos.verdict import Verdict
from benchmarks.queue_load import ROOT, free_port

BY_NAME = {fault.name: fault for fault in FAULTS}


def test_each_fault_comes_once_before_any_comes_again_in_the_order_of_the_seed():
    first = [fault.name for fault in islice(draw(4), 3 * len(FAULTS))]
    rounds = [first[i : i + len(FAULTS)] for i in range(0, len(first), len(FAULTS))]
    assert [sorted(one) for one in rounds] == [sorted(BY_NAME)] * 3
    assert first == [fault.name for fault in islice(draw(4), len(first))]
    assert first[: len(FAULTS)] != [fault.name for fault in islice(draw(5), len(FAULTS))]


def test_the_list_needs_no_server(capsys: pytest.CaptureFixture[str]):
    call_command("chaos", "--list", "--seed", "4")
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"{fault.name}: {fault.about}" for fault in islice(draw(4), len(FAULTS))]


def test_without_a_checkout_the_command_says_that_it_needs_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "benchmarks.chaos", None)
    with pytest.raises(CommandError, match="checkout"):
        call_command("chaos", "--list")


def test_a_fault_that_is_not_there_is_refused():
    with pytest.raises(CommandError, match="database gone"):
        call_command("chaos", "--faults", "database gone, disk full", database_url="postgresql://127.0.0.1:1/x")


@pytest.mark.parametrize(
    "address",
    ["postgresql://postgres@10.0.0.5:5432/x", "postgresql://db.example/x", "postgresql:///x", "postgresql://0.0.0.0/x"],
)
def test_only_the_loopback_is_played_on(address: str):
    with pytest.raises(ChaosError):
        on_loopback(address, "The database", 5432)
    with pytest.raises(CommandError):
        call_command("chaos", "--database-url", address, "--quick")


def test_an_address_of_the_loopback_gets_its_port():
    assert on_loopback("redis://localhost", "Redis", 6379).geturl() == "redis://127.0.0.1:6379"
    account = on_loopback("postgresql://me:secret@127.0.0.1:5433/x", "The database", 5432).geturl()
    assert account == "postgresql://me:secret@127.0.0.1:5433/x"


@pytest.mark.parametrize("argument", ["--people=201", "--seconds=3601", "--seconds=5", "--every=0"])
def test_the_campaign_is_bounded(argument: str):
    with pytest.raises(CommandError, match=argument.split("=")[0]):
        call_command("chaos", argument, database_url="postgresql://127.0.0.1:1/x")


def test_sqlite_is_refused():
    with pytest.raises(CommandError, match="PostgreSQL"):
        call_command("chaos", "--database-url", "sqlite:///x")


def test_a_killed_relay_cuts_and_a_new_one_mends(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = free_port()
        command = [sys.executable, "-m", "benchmarks.chaos.relay", str(port), "127.0.0.1"]
        relay = Child("relay", [*command, str(server.getsockname()[1])], {"PYTHONPATH": str(ROOT)}, tmp_path / "log")
        relay.start()
        try:
            wait_for_port(port)
            server.accept()[0].close()
            for _ in range(2):
                with socket.create_connection(("127.0.0.1", port), timeout=10) as client, server.accept()[0] as there:
                    client.sendall(b"asked")
                    assert there.recv(5) == b"asked"
                    there.sendall(b"told")
                    assert client.recv(4) == b"told"
                    relay.end()
                    assert client.recv(1) == b"" and there.recv(1) == b""
                with pytest.raises(OSError):
                    socket.create_connection(("127.0.0.1", port), timeout=10)
                relay.start()
                wait_for_port(port)
                server.accept()[0].close()
        finally:
            relay.end()
    assert not relay.is_alive


def result(*failed: Failed, windows: list[Window]) -> Result:
    options = Options("postgresql://127.0.0.1/x", "redis://127.0.0.1")
    return Result(options, "disk", Verdict(), windows, list(failed), [100.0, 200.0], [0.1, 9.0], [])


def window(name: str, begin: float, end: float) -> Window:
    return Window(BY_NAME[name], begin, end)


WINDOWS = [window("database cut", 10, 13), window("disk full", 30, 38), window("web server killed", 50, 54)]


@pytest.mark.parametrize(
    ("failed", "cause", "is_good"),
    [
        (Failed("person1", 9, 10.1, 503, "labels"), "database cut", True),
        (Failed("person1", 14, 14.5, 503, "labels"), "database cut", True),
        (Failed("person1", 16, 16.5, 503, "labels"), "", False),
        (Failed("person1", 31, 31.5, 503, "labels"), "disk full", False),
        (Failed(MANAGER, 31, 31.5, 503, "pools/chaos/qrels"), "disk full", True),
        (Failed("person1", 51, 52, 502, "labels"), "web server killed", False),
        (Failed("person1", 51, 52, 0, "labels"), "web server killed", True),
    ],
)
def test_only_the_database_and_a_full_disk_excuse_an_error_of_the_server(failed: Failed, cause: str, is_good: bool):
    found = result(failed, windows=WINDOWS)
    named = found.cause(failed)
    assert (named.name if named else "", found.is_good) == (cause, is_good)
    assert any(failed.path in line for line in problems(found)) != is_good


def test_of_two_faults_at_once_the_one_that_excuses_is_named():
    both = [window("database cut", 10, 13), window("clock wrong", 12, 13)]
    assert result(Failed("person1", 12, 12.5, 503, "labels"), windows=both).is_good


def test_the_table_has_a_row_for_each_fault_and_for_what_has_none():
    failed = [Failed("person1", 11, 11, 503, "labels"), Failed("person1", 20, 20, 500, "labels")]
    lines = list(table(result(*failed, windows=WINDOWS)))
    rows = {line.split(" | ")[0].removeprefix("| "): line.split(" | ")[1:4] for line in lines if line.startswith("| ")}
    assert rows["database cut"] == ["1", "1 x 503", "0"]
    assert rows["no fault"] == ["0", "1 x 500", "0"]
    assert set(rows) == {"people", "50", "fault", "database cut", "disk full", "web server killed", "no fault"}
    widths = {line.count("|") for line in lines[:3]}
    assert len(widths) == 1


def test_every_fault_says_what_it_does():
    assert all(isinstance(fault, Fault) and fault.about for fault in FAULTS)
    assert len(BY_NAME) == len(FAULTS)
