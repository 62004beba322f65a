"""Build the heavy part of Discriminative power: the randomised Tukey HSD."""

from collections.abc import Callable, Mapping

import numpy as np

from evaluation.analyses.pairs import CLUSTERED, CORRECTED, T_TEST, Tested, pair_notes, tested, why
from evaluation.measures.question_sums import question_sums
from evaluation.measures.rank_table import Floats
from evaluation.measures.registry import Measure
from evaluation.sections.builders import table_of
from evaluation.sections.section import Cell, Chart, Column, Context, Section, Table, cell, label_caption, numbers
from evaluation.statistics.t_tests import Correction, PairTests
from evaluation.statistics.tukey_hsd import RandomisedTests, randomised_tukey

PERMUTATIONS = 10_000


def by_permutations(context: Context) -> list[Section]:
    found = tested(context)
    hsd = {}
    for i, measure in enumerate(context.measures):
        hsd[measure.name] = randomised_tukey(
            question_sums(found.values[measure.name]), context.rng(10 + i), PERMUTATIONS
        )
        if context.progress:
            context.progress(i + 1, len(context.measures))
    settings, alpha = context.settings, context.settings.alpha
    first = context.measures[0]
    return [
        Section(
            "discriminative-hsd",
            "Randomised Tukey HSD",
            "All pairs tested at once, without assuming a distribution: the chance of any false finding is below alpha."
            " It asks how large the largest difference would be if the systems were the same.",
            f"{label_caption(context.labels, settings)} Randomised Tukey HSD, two-tailed: the values of the systems"
            f" change places within each question, {PERMUTATIONS:,} permutations, seed {settings.seed}; p of a pair is"
            " the share of permutations whose largest difference of means reaches the observed one, which counts as one"
            f" of them. Answers of a question move together. α = {alpha:g}. {T_TEST} {CLUSTERED}."
            f" {CORRECTED} The HSD needs none.",
            [_shares(context, found, hsd), _pairs(context, found, first, hsd[first.name])],
            _shares_chart(context, found, hsd),
            finding=_agreed(found.main[first.name], hsd[first.name], first, alpha),
            notes=pair_notes(context, found),
        )
    ]


def _shares(context: Context, found: Tested, hsd: Mapping[str, RandomisedTests]) -> Table:
    alpha, main = context.settings.alpha, found.main

    def reason(m: Measure) -> str:
        return why(found.values[m.name], main[m.name])

    def share(m: Measure, correction: Correction) -> Cell:
        return cell(main[m.name].share_below(alpha, correction), reason(m))

    pairs = "pairs of systems with a defined p-value"
    columns: list[tuple[Column, Callable[[Measure], Cell]]] = [
        (Column("measure", "Measure", "measure"), lambda m: m.label),
        (Column("questions", "Questions", "count"), lambda m: hsd[m.name].questions),
        (Column("pairs", "Pairs", "count", pairs), lambda m: int(np.isfinite(hsd[m.name].p).sum())),
        (Column("area", "Area (HSD)", "p", "mean p of the pairs"), lambda m: cell(hsd[m.name].area(), reason(m))),
        (Column("hsd", f"HSD < {alpha:g}", "share"), lambda m: cell(hsd[m.name].share_below(alpha), reason(m))),
        (Column("holm", f"t-test, Holm < {alpha:g}", "share"), lambda m: share(m, "holm")),
        (Column("bh", f"t-test, BH < {alpha:g}", "share"), lambda m: share(m, "fdr_bh")),
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
    labels = [m.label for m in context.measures]
    series = [
        {"name": name, "colour": colour, "x": labels, "y": numbers(share)} for name, (colour, share) in shares.items()
    ]
    return Chart(
        "bars",
        "Share of pairs told apart by measure and test",
        {"series": series, "y": f"share of pairs below {alpha:g}", "yrange": [0, 1.02]},
    )


def _pairs(context: Context, found: Tested, measure: Measure, hsd: RandomisedTests) -> Table:
    tests, systems = found.main[measure.name], context.systems
    holm, bh = tests.corrected("holm"), tests.corrected("fdr_bh")
    reason = why(found.values[measure.name], tests)
    better = "a positive one favours the first" if measure.higher_is_better else "a negative one favours the first"

    def column(key: str, label: str, p: Floats) -> tuple[Column, Callable[[int], Cell]]:
        return Column(key, label, "p"), lambda i: cell(p[i], reason)

    columns: list[tuple[Column, Callable[[int], Cell]]] = [
        (Column("pair", "Pair", "text"), lambda i: f"{systems[tests.first[i]]} − {systems[tests.second[i]]}"),
        (
            Column("difference", "Difference", "value", f"of the means; {better}"),
            lambda i: cell(tests.difference[i], reason),
        ),
        column("p", "t-test p", tests.p),
        column("holm", "Holm", holm),
        column("bh", "Benjamini-Hochberg", bh),
        column("hsd", "HSD", hsd.p),
    ]
    return table_of("discriminative-hsd-pairs", f"Pairs by {measure.label}", range(tests.first.size), columns)


def _agreed(tests: PairTests, hsd: RandomisedTests, measure: Measure, alpha: float) -> str:
    """Say how many pairs the strictest of the tests tell apart."""
    defined = int(np.isfinite(hsd.p).sum())
    if not defined:
        return ""
    apart, holm = int((hsd.p < alpha).sum()), int((tests.corrected("holm") < alpha).sum())
    text = f"By {measure.label} the HSD tells {apart} of {defined} pairs apart"
    return f"{text}, the t-test with Holm's correction {holm}."
