"""Ask every operation of an OpenAPI document, by schemathesis, for what fits it and for what does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.schemas import BaseSchema

load_all_checks()
CHECKED = CHECKS.get_by_names(
    ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance"]
)


def ask_every_operation(
    schema: BaseSchema, token: str, known: Mapping[str, Any], examples: int = 6
) -> dict[str, set[int]]:
    """Operation -> statuses, each of them documented and none 5xx, or the test fails.

    `known`: names of what there is, for the parts of addresses; others are asked for too.
    `examples`: at most so many requests to each operation.
    """
    headers = {"Authorization": f"Token {token}"}
    seen: dict[str, set[int]] = {}
    for found in schema.get_all_operations():
        operation = found.ok()
        names = {p.name: known[p.name] for p in operation.path_parameters if p.name in known}

        def case_of(mode: GenerationMode, of_there: bool, operation: Any = operation, names: Any = names) -> Any:
            return operation.as_strategy(generation_mode=mode, path_parameters=names if of_there and names else None)

        @settings(max_examples=examples, suppress_health_check=list(HealthCheck), database=None)
        @given(case=st.one_of(*(case_of(mode, there) for mode in GenerationMode for there in (True, False))))
        def ask(case: Case) -> None:
            answer = case.call(headers=headers)
            case.validate_response(answer, checks=CHECKED)
            seen.setdefault(case.operation.label, set()).add(answer.status_code)

        ask()
    return seen
