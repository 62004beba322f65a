"""Run the web server and a local worker in one command."""

import contextlib
import errno
import os
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from core.files import bucket
from core.jobs.worker import signals_interrupt, start_worker, stop_worker
from core.management.shell import ShellCommand, check_migrated
from core.signals import serving


def check_port(bind: str) -> None:
    """Raise CommandError if the address cannot be listened on."""
    host, _, port = bind.rpartition(":")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CommandError(
                    f"Port {port} of {host} is taken, perhaps by a TriplePool that serves already: look at "
                    f"http://{bind}/. Otherwise choose another port: --bind {host}:8123, or make demo PORT=8123"
                ) from error
            raise CommandError(f"Nothing can serve at {bind}: {error.strerror}") from error


def address(text: str) -> str:
    """Return HOST:PORT as it was given, if it is one."""
    host, colon, port = text.rpartition(":")
    if not (host and colon and port.isdecimal() and int(port) < 65536):
        raise ArgumentTypeError(f"{text}: give HOST:PORT, as in 127.0.0.1:8000")
    return text


def stop_web(web: subprocess.Popen[bytes], patience: float = 20) -> None:
    """End the web server: SIGTERM first, SIGKILL after `patience` seconds or a second Ctrl-C."""
    with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        web.terminate()
        web.wait(timeout=patience)
    web.kill()
    web.wait()


def options_of_gunicorn(bind: str) -> list[str]:
    threads = max(4, 2 * (os.cpu_count() or 1))
    how = f"config.wsgi --workers 1 --threads {threads} --log-level warning --timeout 120 --bind {bind}".split()
    # near peers could name a SCRIPT_NAME, and so ask for another page than the proxy sees
    how += ["--forwarder-headers", ""]
    return [*how, "--logger-class", "core.gunicorn_logs.JsonLogger"] if settings.LOG_FORMAT == "json" else how


class Command(ShellCommand):
    help = (
        "Serve the site and run its jobs, with gunicorn and one local Celery worker. Both are restarted if they "
        "end. Ctrl-C ends both. While nobody can manage the site, the command prints a link that makes the first "
        "manager, once."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        where = "address of the site"
        parser.add_argument("--bind", type=address, default="127.0.0.1:8000", metavar="HOST:PORT", help=where)
        parser.add_argument("--no-worker", action="store_true", help="serve only the pages; workers run elsewhere")

    def handle(self, *args: Any, **options: Any) -> None:
        bucket.check()
        check_migrated()  # told now, not by every page and heartbeat
        check_port(options["bind"])
        if not settings.PRODUCTION:
            os.environ.setdefault("SITE_URL", f"http://{options['bind']}")  # for mails, which name the address
        site = os.environ.get("SITE_URL", "").rstrip("/") or settings.SITE_URL or f"http://{options['bind']}"
        told = [line for _, line in serving.send(sender=Command, site=site) if line]
        with signals_interrupt():
            self._serve(options["bind"], told, with_worker=not options["no_worker"])

    def _serve(self, bind: str, told: list[str], with_worker: bool) -> None:
        web = subprocess.Popen([sys.executable, "-m", "gunicorn", *options_of_gunicorn(bind)], cwd=settings.BASE_DIR)
        worker = start_worker() if with_worker else None
        self.stdout.write("\n".join([f"TriplePool is at http://{bind}/ (Ctrl-C ends it)", *told]))
        self.stdout.flush()  # into a file too
        try:
            while web.poll() is None:
                time.sleep(1)
                if worker is not None and worker.poll() is not None:
                    self.stderr.write(f"The worker ended (exit code {worker.returncode}); starting another.")
                    worker = start_worker()
            self.stderr.write(f"The web server ended (exit code {web.returncode}).")
            sys.exit(web.returncode or 1)
        except KeyboardInterrupt:
            self.stdout.write("Ending.")
        finally:
            if worker is not None:
                stop_worker(worker)
            stop_web(web)
