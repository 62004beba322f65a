"""No request runs at the edge of a piece of Python's stack, where each call takes memory from the system."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable

from django.conf import settings

from config.stack import roomy_stack

CALLS = 200


def faults_of_calls() -> int:
    """How often 200 calls touched memory that was new to the process."""

    def call(x: float) -> float:
        return x + 1.0

    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    x = 0.0
    for _ in range(CALLS):
        x = call(x)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def below(depth: int, do: Callable[[], int]) -> int:
    return do() if depth == 0 else below(depth - 1, do)


def worst(do: Callable[[], int]) -> int:
    """The most faults of `do` at any depth, over several pieces of the stack."""
    return max(below(depth, do) for depth in range(400))


def test_calls_below_take_no_memory_from_the_system_at_any_depth() -> None:
    if sys.version_info[:2] == (3, 11):  # later ones may do better
        assert worst(faults_of_calls) >= CALLS  # so the test sees it
    answer = roomy_stack(lambda request: worst(faults_of_calls))  # type: ignore[arg-type,return-value]
    assert max(below(depth, lambda: answer(None)) for depth in range(0, 200, 20)) < CALLS // 4  # type: ignore[arg-type,return-value]


def test_it_is_the_outermost() -> None:
    assert settings.MIDDLEWARE[0] == "config.stack.roomy_stack"
