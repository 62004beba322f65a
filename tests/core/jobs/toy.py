"""A Celery worker whose exports are a toy: they wait for params["seconds"], on a queue of their own (TOY_QUEUE).

`python -m tests.core.jobs.toy start SECONDS …` starts such jobs instead, one after the other.
"""

import os
import sys
import time

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from core.jobs.fencing import fenced  # noqa: E402
from core.jobs.lifecycle import start_job  # noqa: E402
from core.jobs.progress import Progress  # noqa: E402
from core.jobs.registry import HANDLERS, JOB_TYPES  # noqa: E402
from core.models import Job  # noqa: E402
from evaluation.enums import EvaluationJob  # noqa: E402

KIND = EvaluationJob.EXPORT


def wait(job: Job, progress: Progress) -> None:
    end = time.monotonic() + float(job.params["seconds"])
    while (left := end - time.monotonic()) > 0:
        progress.report("waiting", 0, 1)
        time.sleep(min(left, 0.05))
    with fenced():
        pass


HANDLERS[KIND] = wait
JOB_TYPES[KIND] = JOB_TYPES[KIND]._replace(queue=os.environ.get("TOY_QUEUE", "toy"))

if __name__ == "__main__":
    if sys.argv[1] == "start":
        for n, seconds in enumerate(sys.argv[2:]):
            print(start_job(KIND, params={"seconds": seconds, "n": n + time.time_ns()}).pk, flush=True)
    else:
        from celery.__main__ import main

        sys.argv[0] = "celery"
        sys.exit(main())
