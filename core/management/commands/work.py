"""Run a worker without the site."""

import time
from argparse import ArgumentParser
from typing import Any

from core.jobs.worker import signals_interrupt, start_worker, stop_worker
from core.management.shell import ShellCommand
from core.models import Job


class Command(ShellCommand):
    help = "Run a Celery worker for a site that is served elsewhere. It is restarted if it ends. Ctrl-C ends it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--queues",
            default="cpu,gpu",
            choices=["cpu", "gpu", "cpu,gpu"],
            metavar="QUEUES",
            help="queues of jobs: cpu, gpu or cpu,gpu (default cpu,gpu)",
        )
        parser.add_argument(
            "--processes", type=int, help="number of jobs at a time (default: the setting WORKER_PROCESSES)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        Job.objects.exists()  # a database without tables is told now
        with signals_interrupt():
            worker = start_worker(options["queues"], options["processes"])
            self.stdout.write(f"A worker does the jobs of {options['queues']} (Ctrl-C ends it).")
            try:
                while True:
                    time.sleep(1)
                    if worker.poll() is not None:
                        self.stderr.write(f"The worker ended (exit code {worker.returncode}); starting another.")
                        worker = start_worker(options["queues"], options["processes"])
            except KeyboardInterrupt:
                self.stdout.write("Ending.")
            finally:
                stop_worker(worker)
