"""Reports of questions, as tests send them."""

from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User

from annotation.messages.flags import report
from annotation.models import Check, Flag, Slot
from annotation.quality.checks import claim_questions


def report_of(
    world: Any, user: User, kind: str = "other", text: str = "odd", asked: Slot | Check | None = None
) -> Flag:
    """Report a question that this person holds; the first one unless told otherwise."""
    asked = asked or claim_questions(world.campaign, user, 50)[0]
    assert asked.lease is not None
    return report(user, asked.ticket, asked.lease, uuid4(), kind, text)
