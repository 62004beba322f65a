"""schemathesis asks every operation of the OpenAPI document for what fits it and for what does not."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from annotation.domain.campaign import open_campaign
from config.wsgi import application
from evaluation.domain.archive import request_export, write_archive
from evaluation.domain.export import EVERYTHING
from evaluation.domain.qrels import freeze_qrels
from pooling.domain.token import create_token, scopes_for
from pooling.models import Pool
from tests.factories import make_person

load_all_checks()
CHECKED = CHECKS.get_by_names([
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
])  # fmt: skip
EXAMPLES = 6  # of each operation and mode


@pytest.fixture
def known(labelled: Pool) -> dict[str, Any]:
    """What there is: names for the parts of addresses."""
    qrels = freeze_qrels(labelled, "v1")
    export, job = request_export(qrels, EVERYTHING, None)
    write_archive(export)
    assert job is not None
    return {
        "pool": "p", "graph": "town", "system": "transe", "qrels": "v1", "measure": "micro_mrr", "file": "qrels.txt",
        "analysis": "measures", "export": export.pk, "job": job.pk,
    }  # fmt: skip


OTHERS = [pytest.param(role, marks=pytest.mark.slow) for role in ("researcher", "adjudicator")]


@pytest.mark.parametrize("role", ["manager", "annotator", *OTHERS])
def test_no_operation_fails_or_answers_what_is_not_documented(labelled: Pool, known, role):
    campaign = open_campaign(labelled)
    person = make_person(role, role if role in ("manager", "researcher") else "")
    if role in ("annotator", "adjudicator"):
        campaign.members.create(person=person, role=role, consented_at=timezone.now())
    scopes = [scope.value for scope in scopes_for(person)]
    headers = {"Authorization": f"Token {create_token(person, 'fuzz', scopes, 1)[1]}"}
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema", application, headers=headers)
    seen: dict[str, set[int]] = {}
    for found in schema.get_all_operations():
        operation = found.ok()
        names = {
            p.name: known[p.name]
            for p in operation.path_parameters if p.name in known
        }  # fmt: skip

        def case_of(
            mode: GenerationMode, of_there: bool, operation: Any = operation, names: Any = names
        ) -> Any:
            return operation.as_strategy(
                generation_mode=mode, path_parameters=names if of_there and names else None
            )

        @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), database=None)
        @given(case=st.one_of(*(case_of(mode, there) for mode in GenerationMode for there in (True, False))))
        def ask(case: Case) -> None:
            answer = case.call(headers=headers)
            case.validate_response(answer, checks=CHECKED)
            seen.setdefault(case.operation.label, set()).add(answer.status_code)

        ask()
    assert len(seen) == 43
    assert seen["GET /api/v1/campaigns/{pool}"] == {200, 404}  # what is there is found
