"""The page Max-k: its sections have what the domain computes, and say what is missing."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest

from evaluation.labels.pool_table import EvaluationError
from evaluation.max_k.performance import KS
from evaluation.max_k.sections import ANALYSIS, max_k_json
from evaluation.max_k.stored_runs import OUTSIDE
from evaluation.max_k.system_sections import SHOWN
from evaluation.sections.section import Context, Section, Table
from evaluation.sections.wording import words
from pooling.models import Pool
from pooling.scoring.distributions import ALPHAS
from pooling.systems.shown_names import shown_name
from tests.evaluation.cases import columns_of, context_of, sections_of, without_positives
from tests.evaluation.max_k.test_stored_runs import import_own, store, stored  # noqa: F401 - a fixture

SYSTEMS = ["transe", "distmult", "complex"]


def light(context: Context) -> dict[str, Section]:
    return {section.key: section for section in ANALYSIS.part("figures").compute(context)}


def table_of(sections: dict[str, Section], key: str) -> Table:
    return next(t for section in sections.values() for t in section.tables if t.key == key)


def test_every_figure_of_the_paper_is_there(stored: Pool):  # noqa: F811
    keys = list(sections_of(ANALYSIS, context_of(stored)))
    shown = [
        "models",
        "protocol-precision",
        "protocol-recall",
        "protocol-f1",
        "alpha",
        "alpha-precision",
        "alpha-recall",
        "alpha-f1",
        "contrast",
    ]
    full = [f"{key}-full-test" for key in ["usual-labels", *shown]]
    assert len({section.title for section in sections_of(ANALYSIS, context_of(stored)).values()}) == len(keys)
    # full test is computed under its own labels by a job; here under those of the context
    assert keys == ["usual-labels", "usual-against", *shown, *full]


@pytest.mark.parametrize("which", ["filtered", "raw"])
@pytest.mark.parametrize(("side", "labels"), [("labels", "current"), ("against", "seeds")])
def test_models_side_by_side(stored: Pool, side, labels, which):  # noqa: F811
    found = max_k_json(stored, labels, SHOWN)
    table = table_of(light(context_of(stored)), f"models-{side}-{which}")
    told = {(row[0], row[1]): row[2:] for row in table.rows}
    for name in SYSTEMS:
        for protocol, by_k in found["systems"][name][which]["protocols"].items():
            expected = [by_k[str(k)][part] for k in SHOWN for part in ("precision", "recall", "f1")]
            assert told[name, protocol] == expected
    for bound, by_k in found["limits"][which].items():
        assert told["limit", f"{bound} limit"] == [value for k in SHOWN for value in by_k[str(k)].values()]
    assert len(told) == len(table.rows) == 11
    values = np.array([row[2:] for row in table.rows[:9]])
    assert set(table.best) == {
        (row, column + 2)
        for row in range(9)
        for column in range(values.shape[1])
        if values[row, column] == values[:, column].max() > values[:, column].min()
    }


def test_usual_measures_stand_beside(stored: Pool):  # noqa: F811
    context = context_of(stored, k=5)
    sections, found = light(context), max_k_json(stored, "current", [5])
    columns = columns_of(table_of(sections, "usual-labels"))
    values = context.labels.values(["micro_mrr"])["micro_mrr"].mean()
    assert [columns["micro_mrr"][name] for name in SYSTEMS] == pytest.approx(values)
    for protocol in ("TopK", "Sampling", "Greedy"):
        for part in ("precision", "recall", "f1"):
            told = {name: found["systems"][name]["filtered"]["protocols"][protocol]["5"][part] for name in SYSTEMS}
            assert columns[f"{protocol.lower()}_{part}"] == told
    best = max(SYSTEMS, key=lambda name: columns["greedy_f1"][name])
    by_rank = max(SYSTEMS, key=lambda name: columns["micro_mrr"][name])
    told = "the same system leads" if best == by_rank else f"{shown_name(by_rank)} leads"
    assert sections["usual-labels"].finding == (
        f"Under current labels {shown_name(best)} has the highest filtered F1@5 under Greedy"
        f" ({columns['greedy_f1'][best]:.3f});"
        f" by Micro MRR {told}."
    )


@pytest.mark.parametrize("which", ["filtered", "raw"])
@pytest.mark.parametrize("k", [1, 5])
def test_who_is_above_the_top_k_limit_is_named(stored: Pool, which, k):  # noqa: F811
    sections, found = light(context_of(stored, k=k, answers=which)), max_k_json(stored, "current", [k])
    f1 = {name: of[which]["protocols"]["Greedy"][str(k)]["f1"] for name, of in found["systems"].items()}
    top, most = (found["limits"][which][bound][str(k)]["f1"] for bound in ("top-k", "max-k"))
    best, above = max(f1, key=lambda name: f1[name]), [name for name in f1 if f1[name] > top]
    told = (
        f"Greedy of {words([shown_name(name) for name in above])} is above what any system can reach that must"
        f" return {k}."
        if above
        else f"No system is above what an oracle reaches that must return {k}."
    )
    assert sections["models"].finding == (
        f"At k = {k} the limits of F1 are {top:.3f} (exactly k) and {most:.3f} (at most k);"
        f" the best system has {f1[best]:.3f} ({shown_name(best)}). {told}"
    )
    assert sections["protocol-f1"].title == f"F1 of the protocols: {shown_name(best)}"  # drawn unless one is asked for


@pytest.mark.parametrize("which", ["filtered", "raw"])
def test_protocols_of_the_system_that_is_asked_for(stored: Pool, which):  # noqa: F811
    sections = light(context_of(stored, system="distmult", answers=which))
    found = max_k_json(stored, "current", KS.tolist())
    own = found["systems"]["distmult"][which]["protocols"]
    for part in ("precision", "recall", "f1"):
        section = sections[f"protocol-{part}"]
        assert section.title.endswith("DistMult")
        assert section.chart is not None and [s["name"] for s in section.chart.data["series"]] == [
            "TopK",
            "Sampling",
            "Greedy",
            "top-k limit",
            "max-k limit",
        ]
        columns = columns_of(section.tables[0])
        for protocol in ("TopK", "Sampling", "Greedy"):
            assert columns[protocol] == {k: own[protocol][str(k)][part] for k in KS.tolist()}
    expected = {k: own["Sampling"][str(k)]["expected_recall"] for k in KS.tolist()}
    assert columns_of(sections["protocol-recall"].tables[0])["Sampling, expected"] == expected


@pytest.mark.parametrize("which", ["filtered", "raw"])
def test_effect_of_alpha_at_the_chosen_one_is_what_the_models_have(stored: Pool, which):  # noqa: F811
    sections = light(context_of(stored, system="complex", answers=which))
    found = max_k_json(stored, "current", [10])["systems"]
    rows = table_of(sections, "alpha").rows
    assert [(row[0], row[1]) for row in rows] == [(n, f"{alpha:g}") for n in SYSTEMS for alpha in ALPHAS]
    chosen = {row[0]: row for row in rows if row[2] == "yes"}
    for name in SYSTEMS:
        own = found[name][which]
        greedy = own["protocols"]["Greedy"]["10"]
        assert chosen[name][1] == f"{found[name]['alpha']:g}"
        assert chosen[name][3:] == pytest.approx(
            [*greedy.values(), own["mass"], own["protocols"]["Sampling"]["10"]["expected_recall"]]
        )
    chart = sections["alpha"].chart
    assert chart is not None
    rings = {s["name"]: (s["x"], s["y"]) for s in chart.data["series"] if s.get("ring")}
    assert rings == {f"{name}, chosen": ([row[1]], [row[5]]) for name, row in chosen.items()}
    most = {name: max(row[5] for row in rows if row[0] == name) for name in SYSTEMS}
    assert set(table_of(sections, "alpha").best) == {(i, 5) for i, row in enumerate(rows) if row[5] == most[row[0]]}
    hits = [name for name, row in chosen.items() if row[5] == most[name]]
    lost = {name: most[name] - row[5] for name, row in chosen.items()}
    worst = max(lost, key=lambda name: lost[name])
    said = f"; the most is lost by {shown_name(worst)}, {lost[worst]:.3f}." if lost[worst] else "."
    assert sections["alpha"].finding == (
        f"At the α chosen on validation {len(hits)} of 3 systems have their highest F1@10 on these labels{said}"
    )
    mass = table_of(sections, "alpha-precision")
    assert mass.best == [(i, 1 + row[1:].index(max(row[1:]))) for i, row in enumerate(mass.rows)]
    columns = columns_of(table_of(sections, "alpha-f1"))
    own_rows = {row[1]: row for row in rows if row[0] == "complex"}
    for alpha, row in own_rows.items():
        assert columns[f"alpha_{alpha}"][10] == pytest.approx(row[5])
    recall = columns_of(table_of(sections, "alpha-recall"))
    assert {a: recall[f"alpha_{a}"][10] for a in own_rows} == pytest.approx({a: row[7] for a, row in own_rows.items()})


def test_lines_of_alpha_are_few_enough_to_be_told_apart(stored: Pool):  # noqa: F811
    own = max_k_json(stored, "current", [10])["systems"]["complex"]["alpha"]
    sections = light(context_of(stored, system="complex"))
    for key in ("alpha-recall", "alpha-f1"):
        drawn = {s["name"]: s for s in sections[key].chart.data["series"]}
        assert len(drawn) <= 5 and [name for name, s in drawn.items() if s["wide"]] == [f"α = {own:g} ✓"]
        assert {"α = 0.2", "α = 50"} <= {name.removesuffix(" ✓") for name in drawn}
        assert [s["measure"] for s in drawn.values()] == list(range(len(drawn)))
        columns = columns_of(sections[key].tables[0])
        for name, s in drawn.items():
            assert s["y"] == list(columns[f"alpha_{name.removeprefix('α = ').removesuffix(' ✓')}"].values())


def test_contrast(stored: Pool):  # noqa: F811
    columns = columns_of(table_of(light(context_of(stored)), "contrast"))
    for side, labels in (("labels", "current"), ("against", "seeds")):
        found = max_k_json(stored, labels, [1])["systems"]
        assert columns[f"tvd_{side}"] == {name: found[name]["tvd"] for name in SYSTEMS}
        for which in ("raw", "filtered"):
            assert columns[f"{which}_{side}"] == {name: found[name][which]["mass"] for name in SYSTEMS}


def test_one_label_set_stands_once(stored: Pool):  # noqa: F811
    sections = light(context_of(stored, "seeds", "seeds"))
    assert "usual-against" not in sections
    assert [t.key for t in sections["models"].tables] == ["models-labels-filtered", "models-labels-raw"]


def test_systems_without_distributions_are_named_with_a_button(labelled: Pool):
    store(labelled, "transe", "complex")
    sections = light(context_of(labelled))
    absent = sections["absent"]
    assert [row[0] for row in absent.tables[0].rows] == ["distmult"]
    assert absent.tables[0].rows[0][1] == "its run lacks its distributions; score_runs p stores them"
    assert [(a.route, a.fields) for a in absent.actions] == [("max-k-score", {})]
    assert "scored once more" in absent.text
    assert list(columns_of(table_of(sections, "usual-labels"))["micro_mrr"]) == ["transe", "complex"]


def test_where_no_run_has_them_only_that_is_said(labelled: Pool):
    assert list(sections_of(ANALYSIS, context_of(labelled))) == ["absent", "absent-full-test"]


def test_an_imported_run_is_said_to_be_one(stored: Pool, tmp_path: Path):  # noqa: F811
    import_own(stored, tmp_path)
    absent = light(context_of(stored))["absent"]
    assert absent.tables[0].rows == [("outside", OUTSIDE)]
    assert absent.actions == [] and absent.finding == "Not shown: outside."
    assert "scored once more" not in absent.text


def test_no_question_with_an_answer(stored: Pool):  # noqa: F811
    context = context_of(stored)
    context = context_of(stored, without_positives(context.labels))
    assert list(light(context)) == ["unanswered"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [({"k": 101}, "k is 101: a run keeps the first 100"), ({"system": "nobody"}, "system 'nobody': choose transe, ")],
)
def test_what_cannot_be_shown_is_said(stored: Pool, asked, words):  # noqa: F811
    with pytest.raises(EvaluationError, match=words):
        light(context_of(stored, **asked))


def test_lines_are_as_long_as_k(stored: Pool):  # noqa: F811
    sections = light(context_of(stored))
    for key in ("models", "protocol-precision", "protocol-recall", "protocol-f1", "alpha-recall", "alpha-f1"):
        chart = sections[key].chart
        assert chart is not None
        for series in chart.data["series"]:
            assert series["x"] == KS.tolist() and len(series["y"]) == 100
            assert np.isfinite(series["y"]).all()


# -- families of seeds --------------------------------------------------------------------------------------------

SEEDS = ["transe-s1", "transe", "transe-s2"]  # the chosen one first
ROWS = ["transe-s1", "distmult", "complex"]


@pytest.fixture
def seeds_stored(with_seeds: Pool) -> Pool:
    store(with_seeds, *SEEDS, "distmult", "complex")
    return with_seeds


def test_values_of_a_family_have_mean_and_deviation_over_its_seeds(seeds_stored: Pool):
    each, folded = (light(context_of(seeds_stored, k=5, seeds=seeds)) for seeds in ("each", "families"))
    keys = ["usual-labels", "usual-against", "models-labels-raw", "models-against-filtered"]
    for key in [*keys, "alpha", "alpha-precision", "contrast"]:
        one, other = table_of(folded, key), table_of(each, key)
        assert list(dict.fromkeys(row[0] for row in one.rows if row[0] != "limit")) == ROWS
        values = [i for i, column in enumerate(one.columns) if column.kind == "value"]
        differ = 0
        for place, row in enumerate(row for row in one.rows if row[0] == "transe-s1"):
            of_seeds = [[r for r in other.rows if r[0] == seed][place] for seed in SEEDS]
            for i in values:
                single = [r[i] for r in of_seeds]
                assert (row[i]["value"], row[i]["n"]) == (single[0], 3)
                assert (row[i]["mean"], row[i]["sd"]) == (pytest.approx(mean(single)), pytest.approx(stdev(single)))
                differ += len(set(single)) > 1
        assert differ and values
        assert not any(isinstance(value, dict) for row in one.rows if row[0] != "transe-s1" for value in row)


def test_means_over_seeds_are_those_of_the_command(seeds_stored: Pool):
    found = max_k_json(seeds_stored, "current", [5])["systems"]
    f1 = [found[seed]["filtered"]["protocols"]["Greedy"]["5"]["f1"] for seed in SEEDS]
    table = table_of(light(context_of(seeds_stored, k=5, seeds="families")), "usual-labels")
    own = table.rows[0][[column.key for column in table.columns].index("greedy_f1")]
    assert own == pytest.approx({"value": f1[0], "mean": mean(f1), "sd": stdev(f1), "n": 3})


def test_charts_draw_the_chosen_seed_and_a_seed_asks_for_its_family(seeds_stored: Pool):
    sections = light(context_of(seeds_stored, seeds="families", system="transe-s2"))
    drawn = [series["name"] for series in sections["models"].chart.data["series"]]
    assert drawn == [*ROWS, "top-k limit", "max-k limit"]
    assert sections["protocol-f1"].title == "F1 of the protocols: TransE (seed 1)"
    with pytest.raises(EvaluationError, match="'nobody'"):
        light(context_of(seeds_stored, seeds="families", system="nobody"))


def test_a_family_has_no_mean_while_a_seed_lacks_its_distributions(with_seeds: Pool):
    store(with_seeds, "transe-s1", "transe", "distmult", "complex")
    sections = light(context_of(with_seeds, seeds="families"))
    assert sections["absent"].finding == "Not shown: TransE (seed 2)." and sections["absent"].actions
    rows = table_of(sections, "usual-labels").rows
    assert [row[0] for row in rows] == ROWS and not any(isinstance(value, dict) for value in rows[0])


def test_without_distributions_of_a_chosen_seed_there_is_nothing_to_show(with_seeds: Pool):
    store(with_seeds, "transe")
    for part in ANALYSIS.parts:
        (section,) = part.compute(context_of(with_seeds, seeds="families"))
        assert section.finding == "Not shown: TransE (seed 1), TransE (seed 2), DistMult and ComplEx."
