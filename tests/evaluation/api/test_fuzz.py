"""Each role asks every operation of the API for what fits its document and for what does not, without a server.

tests/test_walk.py asks a running one.
"""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from config.wsgi import application
from core.people.tokens import create_token, scopes_for
from evaluation.labels.qrels import freeze_qrels
from evaluation.test_sets.export import request_export, write_zip
from evaluation.test_sets.files import EVERYTHING
from pooling.models import Pool
from tests.factories import make_person
from tests.fuzz import ask_every_operation


@pytest.fixture
def known(labelled: Pool) -> dict[str, Any]:
    """What there is: names for the parts of addresses."""
    qrels = freeze_qrels(labelled, "v1")
    export, job = request_export(qrels, EVERYTHING, None)
    write_zip(export)
    assert job is not None
    return {
        "pool": "p",
        "graph": "town",
        "system": "transe",
        "qrels": "v1",
        "measure": "micro_mrr",
        "file": "qrels.txt",
        "analysis": "measures",
        "export": export.pk,
        "job": job.pk,
    }


OTHERS = [pytest.param(role, marks=pytest.mark.slow) for role in ("researcher", "adjudicator")]


@pytest.mark.parametrize("role", ["manager", "annotator", *OTHERS])
def test_no_operation_fails_or_answers_what_is_not_documented(labelled: Pool, known, role):
    campaign = open_campaign(labelled)
    person = make_person(role, role if role in ("manager", "researcher") else "")
    if role in ("annotator", "adjudicator"):
        campaign.members.create(person=person, role=role, consented_at=timezone.now())
    scopes = [scope.value for scope in scopes_for(person)]
    token = create_token(person, "fuzz", scopes, 1)[1]
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema", application, headers={"Authorization": f"Token {token}"})
    seen = ask_every_operation(schema, token, known)
    assert len(seen) == len(list(schema.get_all_operations()))
    assert seen["GET /api/v1/campaigns/{pool}"] == {200, 404}  # what is there is found
