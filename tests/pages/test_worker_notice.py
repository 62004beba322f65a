"""Pages that start work warn if no living worker takes it."""

from __future__ import annotations

import pytest
from django.utils import timezone

from core.models import SiteVersion, Worker
from tests.page import has

PAGES = {
    "/import-graph": "cpu",
    "/graphs/town/runs": "cpu",
    "/graphs/town/systems": "gpu",
    "/graphs/town/train/transe": "gpu",
    "/pools/new?graph=town": "gpu",
    "/pools/town-pool/growth": "gpu",
    "/pools/town-pool/campaign/order": "cpu",
    "/open-world/studies": "gpu",
}


@pytest.mark.parametrize(("address", "queue"), PAGES.items())
def test_pages_that_start_work_warn_of_a_queue_without_a_worker(world, sign_in, address: str, queue: str):
    Worker.objects.all().delete()
    SiteVersion.objects.update_or_create(pk=1, defaults={"version": "2"})
    client = sign_in("manager")
    assert has(client.get(address), "no-worker")
    other = {"cpu": "gpu", "gpu": "cpu"}[queue]
    Worker.objects.create(name="other", queues=other, seen_at=timezone.now())
    assert has(client.get(address), "no-worker")
    worker = Worker.objects.create(name="w", queues=queue, seen_at=timezone.now(), version="1")
    assert has(client.get(address), "no-worker")  # it takes no job
    Worker.objects.filter(pk=worker.pk).update(version="2")
    assert not has(client.get(address), "no-worker")
