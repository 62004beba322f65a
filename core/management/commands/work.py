"""Run the workers of a machine without the site."""

import time
from argparse import ArgumentParser
from typing import Any

from django.db import DatabaseError

from core.files import bucket
from core.jobs.worker import signals_interrupt
from core.jobs.workforce import Workforce, posts_of
from core.management.shell import ShellCommand, check_migrated


class Command(ShellCommand):
    help = (
        "Run Celery workers for a site that is served elsewhere: one for each GPU, and one for the CPU. They are "
        "restarted if they end. Ctrl-C or SIGTERM ends them: running jobs write a checkpoint and go back to the queue."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--queues",
            default="cpu,gpu",
            choices=["cpu", "gpu", "cpu,gpu"],
            metavar="QUEUES",
            help="queues of jobs: cpu, gpu or cpu,gpu (default cpu,gpu)",
        )
        parser.add_argument(
            "--processes",
            type=int,
            help="number of jobs at a time of the CPU worker (default: the setting WORKER_PROCESSES); a GPU does one",
        )
        parser.add_argument(
            "--max-idle", type=float, metavar="SECONDS", help="end when no worker has had a job for so long"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        bucket.check()
        check_migrated()  # told now, not by every page and heartbeat
        longest = options["max_idle"]
        with signals_interrupt():
            force = Workforce(posts_of(options["queues"].split(","), options["processes"]), self.stderr.write)
            names = ", ".join(force.names)
            self.stdout.write(f"Workers for the jobs of {options['queues']}: {names} (Ctrl-C ends them).")
            try:
                while longest is None or self._idle(force) < longest:
                    time.sleep(1)
                    force.look_after()
                self.stdout.write(f"No job for {longest:g} s. Ending.")
            except KeyboardInterrupt:
                self.stdout.write("Ending: jobs write their checkpoints.")
            finally:
                force.stop()

    def _idle(self, force: Workforce) -> float:
        try:
            return force.idle_seconds()
        except DatabaseError as error:  # it comes back, or somebody ends this
            self.stderr.write(f"The database does not answer: {error}")
            return 0.0
