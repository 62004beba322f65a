"""Databases that tests and benchmarks make on a PostgreSQL server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import psycopg

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
