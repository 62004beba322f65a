"""One person of each role, signed in."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Membership
from pooling.models import Pool
from tests.factories import make_person

SignIn = Callable[[str], Client]


@pytest.fixture
def sign_in(labelled: Pool) -> SignIn:
    """sign_in("researcher"); "stranger" is nobody, "guest" is signed in and has no role."""
    campaign = open_campaign(labelled)

    def client_of(role: str) -> Client:
        client = Client()
        if role != "stranger":
            site = role if role in ("manager", "researcher") else ""
            person = make_person(role, site)
            if role in ("annotator", "adjudicator"):
                Membership.objects.create(campaign=campaign, person=person, role=role)
            client.force_login(person, backend="config.sign_in.Accounts")
        return client

    return client_of
