"""Run the t-tests of all pairs of systems, for the sections of Discriminative power."""

from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.measures.values import Values
from evaluation.sections.section import Context
from evaluation.statistics.t_tests import PairTests, clustered_t_tests, paired_t_tests

T_TEST = "Paired two-tailed t-test: the mean difference of two systems is not 0."
CLUSTERED = (
    "Answers of one question are not independent, so the test of a micro measure is clustered by question"
    " (cluster-robust variance, questions − 1 degrees of freedom)"
)
CORRECTED = "Corrections over the pairs of a measure: Holm; Benjamini-Hochberg (BH)."
Tests = dict[str, PairTests]


@dataclass(frozen=True)
class Tested:
    """Hold the t-tests to rely on (`main`) and, for micro measures, those without clusters (`plain`)."""

    values: Mapping[str, Values]
    main: Tests
    plain: Tests


def tested(context: Context) -> Tested:
    values = context.labels.values(context.settings.measures, context.settings.assumed_is_judged)
    micro = {name: value for name, value in values.items() if value.unit == "answer"}
    plain = {name: paired_t_tests(value) for name, value in values.items()}
    clustered = {name: clustered_t_tests(value) for name, value in micro.items()}
    return Tested(values, {**plain, **clustered}, {name: plain[name] for name in micro})


def why(values: Values, tests: PairTests) -> str:
    """Say why there is no p-value; "" where there is one."""
    if not tests.first.size:
        return "one system only: there is no pair"
    if tests.n < 2:
        return f"a test needs two {values.unit}s, there are {tests.n}"
    if tests.clusters is not None and tests.clusters < 2:
        return "a clustered test needs two questions, there is one"
    return next((reason for reason in values.reasons() if reason), "")


def pair_notes(context: Context, found: Tested) -> list[str]:
    if len(context.systems) < 2:
        return ["One system only: there is no pair to test."]
    notes = []
    for measure in context.measures:
        values = found.values[measure.name]
        systems: dict[str, list[str]] = {}
        for system, reason in zip(context.systems, values.reasons(), strict=True):
            if reason:
                systems.setdefault(reason, []).append(system)
        notes += [f"No p-values by {measure.label} for {', '.join(s)}: {reason}." for reason, s in systems.items()]
        if values.finish is not None:
            notes.append(f"{measure.label} is compared by the logarithms of the ranks, whose mean it is made of.")
    return notes
