"""Jobs and stamps where the clock is an hour wrong; test_clocks runs it on a PostgreSQL database of its own."""

import json
import os
import sys
from datetime import timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.utils import timezone  # noqa: E402

from core import clock  # noqa: E402
from core.enums import CoreAct, JobState  # noqa: E402
from core.jobs.execution import execute  # noqa: E402
from core.jobs.lifecycle import sweep  # noqa: E402
from core.jobs.queues import live_workers  # noqa: E402
from core.jobs.registry import HANDLERS  # noqa: E402
from core.models import Job, Worker  # noqa: E402
from core.people.audit_log import record  # noqa: E402
from evaluation.enums import EvaluationJob  # noqa: E402

TRUE = timezone.now  # of the machine, which the database shares here


def play(hours: float) -> dict[str, Any]:
    """Return what happens if the machine's clock is `hours` ahead."""
    Job.objects.all().delete()
    Worker.objects.all().delete()
    alive = Job.objects.create(kind=EvaluationJob.EXPORT, state=JobState.RUNNING, worker="a", heartbeat_at=TRUE())
    silent = Job.objects.create(
        kind=EvaluationJob.EXPORT, state=JobState.RUNNING, worker="b", heartbeat_at=TRUE() - timedelta(minutes=2)
    )
    Worker.objects.create(name="w", queues="cpu", seen_at=TRUE())
    timezone.now = lambda: TRUE() + timedelta(hours=hours)
    clock._compared = None
    try:
        taken = [job.pk for job in sweep()]
        HANDLERS[EvaluationJob.EXPORT] = lambda job, progress: None
        execute(silent.pk, "c")
        silent.refresh_from_db()
        entry = record(None, CoreAct.JOB_CANCELLED, about="x")
        stamps = [silent.started_at, silent.finished_at, silent.heartbeat_at, entry.at]
        return {
            "taken": [pk == silent.pk for pk in taken],
            "alive": Job.objects.get(pk=alive.pk).state,
            "workers": live_workers().count(),
            "off": round(clock.clock_off().total_seconds() / 3600, 3),
            "stamps off": [round((stamp - TRUE()).total_seconds() / 3600, 2) for stamp in stamps if stamp],
        }
    finally:
        timezone.now = TRUE


if __name__ == "__main__":
    print(json.dumps({name: play(float(name)) for name in sys.argv[1:]}))
