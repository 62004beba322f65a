"""Test all pairs of systems, for the page Discriminative power: t-tests, and the randomised Tukey HSD, a heavy part."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from django.utils.text import get_text_list

from evaluation.measures.question_sums import question_sums
from evaluation.measures.rank_table import Floats
from evaluation.measures.registry import Measure
from evaluation.measures.values import Values
from evaluation.sections.builders import chart, series_of, table_of
from evaluation.sections.section import Cell, Chart, Column, Context, Section, Table, cell, label_caption
from evaluation.statistics.correlation import merit
from evaluation.statistics.t_tests import Correction, PairTests, clustered_t_tests, paired_t_tests
from evaluation.statistics.tukey_hsd import RandomisedTests, randomised_tukey
from pooling.systems.shown_names import shown_name

PERMUTATIONS = 10_000
ONE_SYSTEM = "One system only: there is no pair to test."
T_TEST = "Paired two-tailed t-test: the mean difference of two systems is not 0."
CLUSTERED = (
    "Answers of one question are not independent, so the test of a micro measure is clustered by question"
    " (cluster-robust variance, questions − 1 degrees of freedom)"
)
CORRECTED = "Corrections over the pairs of a measure: Holm; Benjamini-Hochberg (BH)."
OTHER_TESTS = (
    " The results overview counts undecided pairs by another test, a paired bootstrap of each pair alone, not corrected"
    " for the number of pairs. For a claim about pairs, quote the randomised Tukey HSD."
)
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
        return [ONE_SYSTEM]
    notes = []
    for measure in context.measures:
        values = found.values[measure.name]
        systems: dict[str, list[str]] = {}
        for system, reason in zip(context.systems, values.reasons(), strict=True):
            if reason:
                systems.setdefault(reason, []).append(shown_name(system))
        notes += [f"No p-values by {measure.label} for {', '.join(s)}: {reason}." for reason, s in systems.items()]
        if values.finish is not None:
            notes.append(f"{measure.label} is compared by the logarithms of the ranks, whose mean it is made of.")
    return notes


# -- all pairs at once ------------------------------------------------------------------------------------------


def by_permutations(context: Context) -> list[Section]:
    found = tested(context)
    hsd = {}
    for i, measure in enumerate(context.measures):
        sums = question_sums(found.values[measure.name])
        hsd[measure.name] = randomised_tukey(sums, context.rng(10 + i), PERMUTATIONS)
        if context.progress:
            context.progress(i + 1, len(context.measures))
    settings, alpha, first = context.settings, context.settings.alpha, context.measures[0]
    return [
        Section(
            "discriminative-hsd",
            "Randomised Tukey HSD",
            "All pairs tested at once, without assuming a distribution: the chance of any false finding is below alpha."
            f" It asks how large the largest difference would be if the systems were the same.{OTHER_TESTS}",
            f"{label_caption(context.labels, settings)} Randomised Tukey HSD, two-tailed: the values of the systems"
            f" change places within each question, {PERMUTATIONS:,} permutations, seed {settings.seed}; p of a pair is"
            " the share of permutations whose largest difference of means reaches the observed one, which counts as one"
            f" of them. Answers of a question move together. α = {alpha:g}. {T_TEST} {CLUSTERED}."
            f" {CORRECTED} The HSD needs none.",
            [_shares(context, found, hsd), _pairs(context, found, first, hsd[first.name])],
            _shares_chart(context, found, hsd),
            finding=_agreed(found.main[first.name], hsd[first.name], first, alpha)
            + _first_place(context, found.values[first.name].mean(), hsd[first.name], first),
            notes=pair_notes(context, found),
        )
    ]


def _shares(context: Context, found: Tested, hsd: Mapping[str, RandomisedTests]) -> Table:
    alpha, main, pairs = context.settings.alpha, found.main, "pairs of systems with a defined p-value"

    def or_why(m: Measure, value: float) -> Cell:
        return cell(value, why(found.values[m.name], main[m.name]))

    def corrected(key: str, name: str, by: Correction) -> tuple[Column, Callable[[Measure], Cell]]:
        column = Column(key, f"t-test, {name} < {alpha:g}", "share")
        return column, lambda m: or_why(m, main[m.name].share_below(alpha, by))

    columns: list[tuple[Column, Callable[[Measure], Cell]]] = [
        (Column("measure", "Measure", "measure"), lambda m: m.label),
        (Column("questions", "Questions", "count"), lambda m: hsd[m.name].questions),
        (Column("pairs", "Pairs", "count", pairs), lambda m: int(np.isfinite(hsd[m.name].p).sum())),
        (Column("area", "Area (HSD)", "p", "mean p of the pairs"), lambda m: or_why(m, hsd[m.name].area())),
        (Column("hsd", f"HSD < {alpha:g}", "share"), lambda m: or_why(m, hsd[m.name].share_below(alpha))),
        corrected("holm", "Holm", "holm"),
        corrected("bh", "BH", "fdr_bh"),
    ]
    return table_of("discriminative-hsd", "Share of pairs told apart", context.measures, columns)


def _shares_chart(context: Context, found: Tested, hsd: Mapping[str, RandomisedTests]) -> Chart:
    """Draw three bars per measure, in colours that no system and no measure has."""
    alpha, names = context.settings.alpha, [m.name for m in context.measures]
    shares = {
        "HSD": ("--accent", [hsd[name].share_below(alpha) for name in names]),
        "t-test, Holm": ("--muted", [found.main[name].share_below(alpha, "holm") for name in names]),
        "t-test, BH": ("--control", [found.main[name].share_below(alpha, "fdr_bh") for name in names]),
    }
    labels, axes = [m.label for m in context.measures], {"y": f"share of pairs below {alpha:g}", "yrange": [0, 1.02]}
    series = [series_of(name, labels, np.array(share), colour=colour) for name, (colour, share) in shares.items()]
    return chart("bars", "Share of pairs told apart by measure and test", series, **axes)


def _pairs(context: Context, found: Tested, measure: Measure, hsd: RandomisedTests) -> Table:
    """List all pairs by the HSD; p below alpha is bold."""
    alpha = context.settings.alpha
    tests, systems = found.main[measure.name], context.systems
    reason = why(found.values[measure.name], tests)
    better = f"of the means; a {'positive' if measure.higher_is_better else 'negative'} one favours the first"

    def column(
        key: str, label: str, p: Floats, kind: str = "p", note: str = ""
    ) -> tuple[Column, Callable[[int], Cell]]:
        return Column(key, label, kind, note), lambda i: cell(p[i], reason)

    columns: list[tuple[Column, Callable[[int], Cell]]] = [
        (Column("pair", "Pair", "systems"), lambda i: f"{systems[tests.first[i]]} − {systems[tests.second[i]]}"),
        column("difference", "Difference", tests.difference, "value", better),
        column("p", "t-test p", tests.p),
        column("holm", "Holm", tests.corrected("holm")),
        column("bh", "Benjamini-Hochberg", tests.corrected("fdr_bh")),
        column("hsd", "HSD", hsd.p, note="bold where it stays below alpha: these pairs may be claimed to differ"),
    ]
    order = np.argsort(hsd.p, kind="stable").tolist()  # undefined ones last
    made = table_of("discriminative-hsd-pairs", f"Pairs by {measure.label}, the surest first", order, columns)
    last = len(columns) - 1
    return replace(made, best=[(row, last) for row, i in enumerate(order) if hsd.p[i] < alpha])


def _first_place(context: Context, means: Floats, hsd: RandomisedTests, measure: Measure) -> str:
    """Say from which systems the HSD tells the best one apart, and with which it may share the first place."""
    worth = np.nan_to_num(merit(means, measure.higher_is_better), nan=-np.inf)
    worth[hsd.left_out] = -np.inf
    best = int(worth.argmax())
    apart: list[str] = []
    close: list[str] = []
    for a, b, p in zip(hsd.first.tolist(), hsd.second.tolist(), hsd.p.tolist(), strict=True):
        if best in (a, b) and np.isfinite(p):
            (apart if p < context.settings.alpha else close).append(shown_name(context.systems[a + b - best]))
    if not close and not apart:
        return ""
    leader = shown_name(context.systems[best])
    if not close:
        return f" {leader} is best, and told apart from every other system."
    told = (
        f"told apart from {get_text_list(apart, 'and')}, not from {get_text_list(close, 'and')}"
        if apart
        else f"not told apart from {get_text_list(close, 'and')}"
    )
    return f" {leader} is best, and {told}."


def _agreed(tests: PairTests, hsd: RandomisedTests, measure: Measure, alpha: float) -> str:
    """Say how many pairs the strictest of the tests tell apart."""
    defined = int(np.isfinite(hsd.p).sum())
    if not defined:
        return ""
    apart, holm = int((hsd.p < alpha).sum()), int((tests.corrected("holm") < alpha).sum())
    text = f"By {measure.label} the HSD tells {apart} of {defined} pairs apart"
    return f"{text}, the t-test with Holm's correction {holm}."
