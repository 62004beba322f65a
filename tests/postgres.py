"""Databases that tests and benchmarks make on a PostgreSQL server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg

ROOT = Path(__file__).resolve().parent.parent
SERVER = os.environ.get("TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/test")


@contextmanager
def own_database(prefix: str, server: str = SERVER, like: str = "", *, durable: bool = True) -> Iterator[str]:
    """The address of a new one on the server at this address, which is gone at the end.

    It is empty, or a copy of the one at the address `like`, to which nobody may be connected. Not `durable`: no commit
    waits for the disk, which changes nothing else unless the server dies.
    """
    name = f"{prefix}_{uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        template = f' TEMPLATE "{like.rpartition("/")[2]}"' if like else ""
        connection.execute(f'CREATE DATABASE "{name}"{template}')
        if not durable:
            connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    try:
        yield f"{server.rpartition('/')[0]}/{name}"
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def printed_on_postgres(program: str, *arguments: str, like: str, var: Path) -> str:
    """Run a Python program, as a process of its own, on a copy of the database `like`; return what it prints."""
    with own_database("program", like=like, durable=False) as url:
        env = os.environ | {
            "DATABASE_URL": url,
            "TRIPLEPOOL_VAR": str(var),
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        command = [sys.executable, "-c", program, *arguments]
        done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
