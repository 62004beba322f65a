"""The web server and a local worker in one command."""

import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from core.jobs.worker import signals_interrupt, start_worker, stop_worker


class Command(BaseCommand):
    help = "Serve the pages and do the jobs: gunicorn and one local Celery worker, both watched. Ctrl-C ends both."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--bind", default="127.0.0.1:8000", metavar="HOST:PORT")
        parser.add_argument("--no-worker", action="store_true", help="only the pages; workers run elsewhere")

    def handle(self, *args: Any, **options: Any) -> None:
        with signals_interrupt():
            self._serve(options)

    def _serve(self, options: dict[str, Any]) -> None:
        threads = max(4, 2 * (os.cpu_count() or 1))
        web = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "gunicorn",
                "config.wsgi",
                "--bind",
                options["bind"],
                "--workers",
                "1",
                "--threads",
                str(threads),
                "--log-level",
                "warning",
                "--timeout",
                "120",
            ],
            cwd=settings.BASE_DIR,
        )
        worker = None if options["no_worker"] else start_worker()
        self.stdout.write(f"TriplePool is at http://{options['bind']}/ (Ctrl-C ends it)")
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
            web.terminate()
            web.wait(timeout=20)
