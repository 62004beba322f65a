"""Run the web server and a local worker in one command."""

import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from core.jobs.worker import signals_interrupt, start_worker, stop_worker
from core.management.shell import ShellCommand
from core.models import Job


class Command(ShellCommand):
    help = (
        "Serve the site and run its jobs, with gunicorn and one local Celery worker. Both are restarted if they "
        "end. Ctrl-C ends both."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--bind", default="127.0.0.1:8000", metavar="HOST:PORT", help="address of the site")
        parser.add_argument("--no-worker", action="store_true", help="serve only the pages; workers run elsewhere")

    def handle(self, *args: Any, **options: Any) -> None:
        Job.objects.exists()  # a database without tables is told now, not by every page
        with signals_interrupt():
            self._serve(options["bind"], with_worker=not options["no_worker"])

    def _serve(self, bind: str, with_worker: bool) -> None:
        threads = max(4, 2 * (os.cpu_count() or 1))
        how = f"config.wsgi --workers 1 --threads {threads} --log-level warning --timeout 120"
        command = [sys.executable, "-m", "gunicorn", *how.split(), "--bind", bind]
        web = subprocess.Popen(command, cwd=settings.BASE_DIR)
        worker = start_worker() if with_worker else None
        self.stdout.write(f"TriplePool is at http://{bind}/ (Ctrl-C ends it)")
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
