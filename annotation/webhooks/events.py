"""Note for webhooks what happened, in the transaction of the act; a job sends it."""

import json
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db.models import Q

from annotation.enums import AnnotationJob, WebhookEvent
from annotation.models import Delivery, Webhook
from core import clock
from core.database import kept
from core.enums import JobState
from core.jobs.lifecycle import start_job
from core.models import Job
from pooling.models import Pool

TEST = "test"


def tell(event: WebhookEvent, pool: Pool | None, path: str, **data: Any) -> None:
    """Note an event for the webhooks that want it. Put no names of people into `data`.

    pool: whose event it is; None: of no pool. path: of the page that shows more.
    """
    wanted = Webhook.objects.filter(Q(pool=None) | Q(pool=pool) if pool else Q(pool=None), active=True)
    note((hook for hook in wanted if event in hook.events), event, pool, path, data)


def note(hooks: Iterable[Webhook], event: str, pool: Pool | None, path: str, data: dict[str, Any]) -> list[Delivery]:
    """Write a message for each of these webhooks, and start the job that sends them."""
    now = clock.now()
    wanted = {hook.pk: hook for hook in hooks}
    left = kept(Webhook, wanted) if wanted else set()  # without those that are removed at this moment
    made = [Delivery(webhook=hook, event=event, due_at=now) for key, hook in wanted.items() if key in left]
    for one in made:
        one.body = json.dumps(
            {
                "id": str(one.uid),
                "event": event,
                "at": now.isoformat(),
                "pool": pool.name if pool else None,
                "url": f"{settings.SITE_URL}{path}",
                "data": data,
            },
            ensure_ascii=False,
        )
    if made:
        Delivery.objects.bulk_create(made)
        start_job(AnnotationJob.SEND_WEBHOOKS)
    return made


def job_ended(job: Job, state: JobState) -> None:
    """Note the end of a job, unless it is the one that sends webhooks."""
    if job.kind == AnnotationJob.SEND_WEBHOOKS:
        return
    about = {"job": job.pk, "kind": job.kind, "state": state, "about": str(job).strip()}
    tell(WebhookEvent.JOB, job.pool, f"/jobs/{job.pk}", **about)
