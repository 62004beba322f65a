"""A small server that keeps what it is sent and answers as it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Receiver:
    port: int
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)  # path, headers, body
    answer: Answer = lambda request: answer_with(request, 204)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?key=letmein"


def answer_with(request: BaseHTTPRequestHandler, status: int, **headers: str) -> None:
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name, value)
    request.end_headers()


@contextmanager
def receiving() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            there.got.append((self.path, dict(self.headers), body))
            there.answer(self)

        def do_GET(self) -> None:
            there.got.append((self.path, dict(self.headers), b""))
            answer_with(self, 200)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    there = Receiver(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield there
    finally:
        server.shutdown()
        server.server_close()
