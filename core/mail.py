"""Send mails by SMTP within a few seconds each, however slowly the server answers."""

import contextlib
import smtplib
import socket
import threading
from typing import Any

from django.core.mail.backends import smtp

SECONDS = 15.0  # from connecting to the server's last answer


class _Connection(smtplib.SMTP):
    """A connection that ends after SECONDS. The timeout of the socket starts again with each byte."""

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        connected: socket.socket = super()._get_socket(host, port, timeout)  # type: ignore[misc]
        with_tls_too = connected.dup()  # the connection under another number: TLS takes over the first

        def end() -> None:
            with with_tls_too, contextlib.suppress(OSError):
                with_tls_too.shutdown(socket.SHUT_RDWR)

        self._timer = threading.Timer(SECONDS, end)
        self._timer.daemon = True
        self._timer.start()
        return connected

    def close(self) -> None:
        super().close()
        if (timer := getattr(self, "_timer", None)) is not None and timer.is_alive():
            timer.cancel()
            timer.function()


class Backend(smtp.EmailBackend):
    """Django's own, by connections that end in time."""

    @property
    def connection_class(self) -> Any:
        return _Connection
