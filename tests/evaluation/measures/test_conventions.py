"""docs/conventions.py: both values of each example, and that no measure of another tool is forgotten."""

import importlib.util
from pathlib import Path
from types import ModuleType

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from evaluation.measures.registry import known_names

PATH = Path(__file__).resolve().parents[3] / "docs" / "conventions.py"


def conventions() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_conventions", PATH)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["docs_conventions"] = module  # its dataclass looks itself up
    spec.loader.exec_module(module)
    return module


CONVENTIONS = conventions()


@pytest.mark.parametrize("convention", CONVENTIONS.CONVENTIONS, ids=lambda one: one.subject)
def test_both_values_are_those_of_both_tools(convention):
    ours, theirs = convention.compute()
    expected = np.nan if convention.our_value is None else convention.our_value
    assert (ours, theirs) == pytest.approx((expected, convention.their_value), abs=1e-9, nan_ok=True)
    assert ours != pytest.approx(theirs, abs=1e-3)


def test_every_measure_of_ir_measures_and_trec_eval_is_here_or_named_as_missing():
    missing = [name for names in CONVENTIONS.MISSING.values() for name in names]
    named = [*CONVENTIONS.SAME, *missing]
    assert len(named) == len(set(named))
    assert set(named) == {*ir_measures.measures.registry, *pytrec_eval.supported_measures}
    assert {*CONVENTIONS.SAME.values()} <= set(known_names())
