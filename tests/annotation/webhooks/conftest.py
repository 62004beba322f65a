from __future__ import annotations

from collections.abc import Iterator

import pytest

from annotation.models import Webhook
from annotation.webhooks.upkeep import add_webhook
from tests.annotation.webhooks.receiver import Receiver, receiving


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    """A server on this machine that the operator allows."""
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
    with receiving() as there:
        yield there


@pytest.fixture
def hook(world, receiver) -> Webhook:
    """A webhook of the world's pool that wants every event."""
    from annotation.enums import WebhookEvent

    return add_webhook(receiver.url, WebhookEvent.values, world.pool, by=world.manager)[0]
