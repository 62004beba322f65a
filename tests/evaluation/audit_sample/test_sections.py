"""The page of the audit sample: what it says in its tables, and before anything was judged."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.campaigns.lifecycle import open_campaign
from annotation.release.audit_sample import audited, draw_audit
from evaluation.audit_sample.error_rates import audited_filters, effects
from evaluation.audit_sample.sections import ANALYSIS, NO_SAMPLE, NOT_JUDGED, section_key
from pooling.models import Pool
from pooling.pools.kernels.filters import reason_label
from tests.evaluation.cases import columns_of, context_of, sections_of
from tests.factories import judge

NAMES = ("micro_mrr", "map@20")


@pytest.fixture
def sampled(labelled: Pool) -> Pool:
    draw_audit(open_campaign(labelled), 0.5, seed=1)
    return labelled


def judge_sample(pool: Pool) -> None:
    for number, item in enumerate(audited(pool.campaign).order_by("triple").select_related("triple__pool")):
        judge(item.triple, ("positive", "negative", "negative", "undecided")[number % 4])


def reasons_of(section, column: int) -> set[str]:
    return {row[column]["reason"] for row in section.tables[0].rows}


def test_rates_say_why_they_are_undefined(labelled: Pool) -> None:
    sections = sections_of(ANALYSIS, context_of(labelled, measures=NAMES))
    assert list(sections) == ["audit-no-rates"]  # nothing is imputed
    section = sections["audit-no-rates"]
    assert (reasons_of(section, 5), reasons_of(section, 6)) == ({NO_SAMPLE}, {NO_SAMPLE})
    assert section.chart is None
    assert section.finding == (
        "No filtered triple has been judged in an audit sample yet: draw one on the page Order of judging."
    )


def test_rates_of_a_sample_that_waits_for_labels(sampled: Pool) -> None:
    sampled.judgements.exclude(triple__reason="").delete()
    section = sections_of(ANALYSIS, context_of(sampled, measures=NAMES))["audit-no-rates"]
    assert reasons_of(section, 5) == {NOT_JUDGED}
    assert section.finding == (
        "No filtered triple has been judged in an audit sample yet: wait for labels of the sample."
    )


def test_table_of_filters_has_the_figures_of_the_report(sampled: Pool) -> None:
    judge_sample(sampled)
    filters = audited_filters(sampled)
    section = sections_of(ANALYSIS, context_of(sampled, measures=NAMES))["audit-filters"]
    rows = section.tables[0].rows
    assert [[*row[:5], row[5]["value"], row[5]["low"], row[5]["high"], row[6]["value"]] for row in rows] == [
        [
            reason_label(one.reason),
            one.filtered,
            one.drawn,
            one.errors.n,
            one.errors.hits,
            one.rates["rate"],
            one.rates["low"],
            one.rates["high"],
            one.missed["rate"],
        ]
        for one in filters
    ]
    sums = [sum(row[i] for row in rows) for i in range(1, 5)]
    assert list(section.tables[0].foot) == ["all filters", *sums, "", ""]
    assert section.finding.startswith(f"{sums[3]} of {sums[2]} judged filtered triples are positive: about ")
    undecided = sum(one.undecided for one in filters)
    assert section.notes == [f"{undecided} sampled triples are undecided and count for no rate."]
    assert section.chart.data["series"][0]["y"] == [one.rates["rate"] for one in filters]


def test_tables_of_measures_have_the_figures_of_the_effects(sampled: Pool) -> None:
    judge_sample(sampled)
    context = context_of(sampled, measures=NAMES)
    found = effects(context, audited_filters(sampled))
    sections = sections_of(ANALYSIS, context)
    taus = columns_of(sections["audit-tau"].tables[0])
    for measure in context.measures:
        one = found[measure.name]
        assert [taus[end][measure.label] for end in ("low", "rate", "high")] == [
            one.tau[end] for end in ("low", "rate", "high")
        ]
        section = sections[section_key(measure)]
        columns = columns_of(section.tables[0])
        assert list(columns["now"].values()) == one.now.tolist()
        assert list(columns["imputed"].values()) == one.imputed["rate"].tolist()
        assert list(columns["change"].values()) == (one.imputed["rate"] - one.now).tolist()
        ends = np.stack(list(one.imputed.values()))
        assert [row[3]["low"] for row in section.tables[0].rows] == ends.min(axis=0).tolist()
        assert [row[3]["high"] for row in section.tables[0].rows] == ends.max(axis=0).tolist()
        order = (-one.imputed["rate"]).argsort(kind="stable")
        assert [columns["imputed_place"][context.systems[i]] for i in order] == [1, 2, 3]


def test_filter_without_a_rate_is_left_as_it_is_and_named(sampled: Pool) -> None:
    judge_sample(sampled)
    reason = audited_filters(sampled)[0].reason
    sampled.judgements.filter(triple__reason=reason).delete()
    section = sections_of(ANALYSIS, context_of(sampled, measures=NAMES))["audit-tau"]
    assert section.notes == [f"Not imputed, since they have no rate: {reason}."]


def test_pool_without_filters_has_an_empty_table(labelled: Pool) -> None:
    labelled.triples.exclude(reason="").update(reason="")
    sections = sections_of(ANALYSIS, context_of(labelled, measures=NAMES))
    assert (sections["audit-no-rates"].tables[0].rows, sections["audit-no-rates"].tables[0].foot) == ([], [])
    assert list(sections) == ["audit-no-rates"]
    assert sections["audit-no-rates"].finding == "No filter took a triple of this pool: there is nothing to audit."
