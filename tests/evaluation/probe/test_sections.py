"""PROBE of a pool: values from the models' own scores, the map, slices, bands, and what cannot be computed."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from evaluation.measures.values import NO_ANSWER
from evaluation.probe.answers import PAPER_ROBUSTNESSES, PAPER_SHARPNESSES, ROBUSTNESSES, SHARPNESSES
from evaluation.probe.kernel import probe_score
from evaluation.probe.sections import ANALYSIS, probe_json
from evaluation.sections.settings import Settings
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from tests.evaluation.cases import (
    columns_of,
    context_of,
    nothing_returned,
    reciprocal_ranks,
    sections_of,
    tied_systems,
    without_positives,
)
from tests.evaluation.oracle import positives_of, seeds_of
from tests.factories import make_pool, make_systems

SYSTEMS = ("transe", "distmult", "complex")


def degrees(pool: Pool) -> Counter:
    return Counter(e for h, _, t in open_graph(pool.graph).train.tolist() for e in {h, t})


def literal(pool: Pool, positives: set, a: float, b: float) -> dict[str, float]:
    """{system: PROBE} by loops over the answers, from the models' scores."""
    entities, degree = open_graph(pool.graph).num_entities, degrees(pool)
    scale = 1 / (1 - (1 / entities) ** a) if a else math.nan
    total, found = 0.0, Counter()
    for _, entity, of_system in reciprocal_ranks(pool, positives):
        weight = (1 / (degree[entity] + 1)) ** b
        total += weight
        for system, turned in of_system.items():
            score = scale * (turned**a - 1) + 1 if a else 1 + math.log(turned) / math.log(entities)
            found[system] += weight * score
    return {system: found[system] / total for system in SYSTEMS}


def test_table_of_the_surface_has_the_values_of_the_formula(labelled: Pool):
    table = sections_of(ANALYSIS, context_of(labelled))["surface"].tables[0]
    assert len(table.rows) == 25
    for row in table.rows[::6]:
        expected = literal(labelled, positives_of(labelled), float(row[0]), float(row[1]))
        assert dict(zip(SYSTEMS, row[3:], strict=True)) == pytest.approx(expected)


def test_files_have_every_point_and_the_page_leaves_it_out(labelled: Pool):
    page, every = sections_of(ANALYSIS, context_of(labelled))["surface"].tables
    assert (page.in_files, every.in_files) == (False, True)
    points = [(float(row[0]), float(row[1])) for row in every.rows]
    assert points == [(a, b) for a in SHARPNESSES for b in ROBUSTNESSES] and len(points) == 41 * 41
    assert [row for row in every.rows if row[:2] in [shown[:2] for shown in page.rows]] == page.rows


def test_slices_are_the_table_of_the_paper_under_both_label_sets(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled))
    for key, positives in (("labels", positives_of(labelled)), ("against", seeds_of(labelled))):
        for along, letter, points in (("sharpness", "a", PAPER_SHARPNESSES), ("robustness", "b", PAPER_ROBUSTNESSES)):
            section = sections[f"{along}-{key}"]
            shown = columns_of(section.tables[0])
            for point in points:
                a, b = (point, 0) if letter == "a" else (1, point)
                expected = literal(labelled, positives, a, b)
                assert shown[f"{letter}_{point:g}"] == pytest.approx(expected)
                best = max(expected, key=expected.__getitem__)
                column = [c.key for c in section.tables[0].columns].index(f"{letter}_{point:g}")
                assert (SYSTEMS.index(best), column) in section.tables[0].best
            assert [c.label for c in section.tables[0].columns if "(MRR)" in c.label] == [
                "a = 1 (MRR)" if letter == "a" else "b = 0 (MRR)"
            ]
            line = {one["name"]: dict(zip(one["x"], one["y"], strict=True)) for one in section.chart.data["series"]}
            assert line["complex"][points[1]] == pytest.approx(shown[f"{letter}_{points[1]:g}"]["complex"])


def test_slices_go_through_the_chosen_point(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled, sharpness=0.3, robustness=2.0))
    shown = columns_of(sections["sharpness-labels"].tables[0])
    assert shown["a_0.5"] == pytest.approx(literal(labelled, positives_of(labelled), 0.5, 2))
    shown = columns_of(sections["robustness-labels"].tables[0])
    assert shown["b_1"] == pytest.approx(literal(labelled, positives_of(labelled), 0.3, 1))
    assert "At sharpness 0.3 and robustness 2 the highest value is" in sections["surface"].finding
    assert [point["name"] for point in sections["winners"].chart.data["points"]] == ["MRR"]  # off the map
    inside = sections_of(ANALYSIS, context_of(labelled, sharpness=0.3, robustness=0.5))
    assert [point["name"] for point in inside["winners"].chart.data["points"]] == ["MRR", "chosen"]


def test_a_place_gained_against_the_first_column_is_told(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled))
    for key in ("sharpness-labels", "robustness-labels", "sharpness-against", "robustness-against"):
        rows = sections[key].tables[0].rows
        values = [[c["value"] if isinstance(c, dict) else c for c in row[1:]] for row in rows]
        placed = [[1 + sum(other > own for other in column) for own in column] for column in zip(*values, strict=True)]
        for i, row in enumerate(rows):
            moved = [c.get("moved", 0) if isinstance(c, dict) else 0 for c in row[1:]]
            assert moved == [placed[0][i] - of[i] for of in placed]


def test_map_and_shares_are_counts_of_the_whole_grid(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled))
    rows = sections["surface"].tables[1].rows
    won = Counter(row[2] for row in rows)
    shown = columns_of(sections["winners"].tables[0])
    for system in SYSTEMS:
        assert shown["labels"][system] == pytest.approx(won[system] / len(rows))
        places = [1 + sum(other > row[3 + SYSTEMS.index(system)] for other in row[3:]) for row in rows]
        assert (shown["highest"][system], shown["lowest"][system]) == (min(places), max(places))
        assert shown["at_mrr"][system] == places[20 * 41]
    data = sections["winners"].chart.data
    assert sum(region["share"] for region in data["regions"]) == pytest.approx(1)
    for region in data["regions"]:
        at = (SHARPNESSES.index(region["label"]["x"]), ROBUSTNESSES.index(region["label"]["y"]))
        assert data["best"][at[1]][at[0]] == region["system"]
        assert rows[at[0] * 41 + at[1]][2] == region["name"]


def test_bands_are_means_of_scores_and_mrr_at_sharpness_1(labelled: Pool):
    entities, degree = open_graph(labelled.graph).num_entities, degrees(labelled)
    sections = sections_of(ANALYSIS, context_of(labelled, sharpness=2.0))
    shown = columns_of(sections["popularity"].tables[0])
    ranks = [
        (degree[entity], {s: 1 / turned for s, turned in of_system.items()})
        for _, entity, of_system in reciprocal_ranks(labelled, positives_of(labelled))
    ]
    low = [of_system for d, of_system in ranks if 2 <= d <= 5]
    assert low and shown["n"]["2-5"] == len(low)
    for system in SYSTEMS:
        one = probe_score([r[system] for r in low], [0] * len(low), entities, 2, 0)
        assert shown[system]["2-5"] == pytest.approx(one)


def test_answers_by_rank_are_counted_once(labelled: Pool):
    ranks = [r for _, _, r in reciprocal_ranks(labelled, positives_of(labelled))]
    shown = columns_of(sections_of(ANALYSIS, context_of(labelled))["ranks"].tables[0])
    for system in SYSTEMS:
        own = [1 / r[system] for r in ranks]
        assert shown[system]["1"] == sum(rank <= 1 for rank in own)
        assert shown[system]["2"] == sum(1 < rank <= 2 for rank in own)
        assert shown[system]["6-10"] == sum(5 < rank <= 10 for rank in own)
        assert sum(shown[system].values()) == len(own)


def test_weights_by_band_are_shares_of_the_formula(labelled: Pool):
    degree = degrees(labelled)
    answers = [entity for _, entity, _ in reciprocal_ranks(labelled, positives_of(labelled))]
    section = sections_of(ANALYSIS, context_of(labelled))["weights"]
    shown = columns_of(section.tables[0])
    for b in PAPER_ROBUSTNESSES:
        weight = [(degree[e] + 1) ** -b for e in answers]
        low = sum(w for e, w in zip(answers, weight, strict=True) if 2 <= degree[e] <= 5)
        assert shown[f"b_{b:g}"]["2-5"] == pytest.approx(low / sum(weight))
    whole = sum(degree.values())
    assert shown["train"]["2-5"] == pytest.approx(sum(d for d in degree.values() if 2 <= d <= 5) / whole)
    graph = open_graph(labelled.graph)
    assert section.tables[1].rows == [
        [
            labelled.graph.name,
            graph.num_entities,
            graph.num_relations,
            len(graph.train),
            pytest.approx(whole / len(degree)),
            max(degree.values()),
            graph.num_entities - len(degree),
        ]
    ]


def test_scores_by_rank_are_those_of_the_formula(labelled: Pool):
    entities = open_graph(labelled.graph).num_entities
    shown = columns_of(sections_of(ANALYSIS, context_of(labelled))["scores"].tables[0])
    assert list(shown["a_1"]) == ["1", "2", "3", "5", "10", "20", str(entities)]
    for a in PAPER_SHARPNESSES:
        assert shown[f"a_{a:g}"]["5"] == pytest.approx((5**-a - 1) / (1 - entities**-a) + 1)
        assert shown[f"power_{a:g}"]["5"] == pytest.approx(5**-a)


def test_labels_without_a_positive_are_undefined_with_a_reason(labelled: Pool):
    nothing = without_positives(context_of(labelled).labels)
    sections = sections_of(ANALYSIS, context_of(labelled, nothing))
    undefined = {"value": None, "reason": NO_ANSWER}
    assert sections["winners"].tables[0].rows[0][1] == undefined
    assert sections["winners"].chart is None and sections["surface"].chart is None
    assert all(cell == undefined for row in sections["surface"].tables[0].rows for cell in row[3:])
    assert all(cell == undefined for row in sections["sharpness-labels"].tables[0].rows for cell in row[1:])
    assert [sections[key].finding for key in ("winners", "surface", "ranks", "weights")] == [""] * 4
    assert columns_of(sections["sharpness-against"].tables[0])["a_1"]["transe"] > 0


def test_a_system_that_returned_nothing_scores_0_and_is_named(labelled: Pool):
    cut = nothing_returned(context_of(labelled).labels, system=1)
    sections = sections_of(ANALYSIS, context_of(labelled, cut))
    assert set(columns_of(sections["sharpness-labels"].tables[0])["a_1"].items()) >= {("distmult", 0.0)}
    n = 2 * len(positives_of(labelled))
    said = f"cut: not returned, of {n} answers: distmult {n}. These score 0, as the last rank does."
    assert said in sections["winners"].notes
    assert columns_of(sections["ranks"].tables[0])["distmult"]["not returned"] == n


def test_systems_that_tie_share_the_map(labelled: Pool):
    tied = tied_systems(context_of(labelled).labels)
    sections = sections_of(ANALYSIS, context_of(labelled, tied))
    shown = columns_of(sections["winners"].tables[0])
    assert shown["labels"] == {**dict.fromkeys(SYSTEMS, 0.0), "shared": 1.0}
    assert [region["name"] for region in sections["winners"].chart.data["regions"]] == ["several tie"]
    assert sections["winners"].finding == ("No system alone is the best anywhere: the best ones tie.")
    assert sections["surface"].tables[0].best == []


def test_one_system_alone_has_values_and_nothing_to_compare(town):
    make_systems(town, ("transe",))
    sections = sections_of(ANALYSIS, context_of(make_pool(town), labels="full-test"))
    assert "One system only: there is nothing to compare." in sections["winners"].notes
    assert isinstance(sections["sharpness-labels"].tables[0].rows[0][1], float)
    assert sections["winners"].finding == sections["sharpness-labels"].finding == ""


def test_the_same_labels_on_both_sides_are_sliced_once(labelled: Pool):
    keys = set(sections_of(ANALYSIS, context_of(labelled, "seeds", "seeds")))
    assert "sharpness-labels" in keys and "sharpness-against" not in keys


def test_questions_of_the_seeds_alone_are_fewer_answers(labelled: Pool):
    grown, original = (probe_json(labelled, Settings(questions=q)) for q in ("grown", "original"))
    assert 0 < original["n"] < grown["n"] == 2 * len(positives_of(labelled))


def test_json_has_the_point_and_the_shares_of_the_map(labelled: Pool):
    found = probe_json(labelled, Settings(sharpness=0.5, robustness=1.0))
    assert found["systems"] == pytest.approx(literal(labelled, positives_of(labelled), 0.5, 1))
    shown = columns_of(sections_of(ANALYSIS, context_of(labelled))["winners"].tables[0])
    assert found["best"] == pytest.approx({s: shown["labels"][s] for s in SYSTEMS})
    assert sum(found["best"].values()) + found["several_best"] == pytest.approx(1)
    rows = sections_of(ANALYSIS, context_of(labelled))["surface"].tables[1].rows
    orders = [tuple(np.argsort(np.argsort(np.negative(row[3:])))) for row in rows]
    assert found["orders"] == len(set(orders))
    assert found["order_of_mrr"] == pytest.approx(orders.count(orders[20 * 41]) / len(orders))


def test_what_is_said_of_slices_and_of_what_the_parameters_count(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled))
    for along, ends in (("sharpness", "a = 0.25 to 2"), ("robustness", "b = 0 to 1")):
        section = sections[f"{along}-labels"]
        values = [[c["value"] if isinstance(c, dict) else c for c in row[1:]] for row in section.tables[0].rows]
        first, last = ([1 + sum(w[j] > v[j] for w in values) for v in values] for j in (0, -1))
        moved = [abs(a - b) for a, b in zip(first, last, strict=True)]
        i = moved.index(max(moved))
        assert section.finding == (
            f"From {ends}, {sum(m > 0 for m in moved)} of 3 systems change their place; {SYSTEMS[i]} moves most, from"
            f" {first[i]} to {last[i]}."
            if any(moved)
            else f"The order of the systems is the same at both ends, {ends}."
        )
    ranks = columns_of(sections["ranks"].tables[0])
    near = {s: sum(ranks[s][band] for band in ("2", "3", "4-5", "6-10")) for s in SYSTEMS}
    assert f"the most answers at ranks 2 to 10 ({max(near.values())} of" in sections["ranks"].finding
    weights = columns_of(sections["weights"].tables[0])
    low, high = (100 * sum(weights[b][band] for band in ("0-1", "2-5")) for b in ("b_0", "b_1"))
    assert sections["weights"].finding == (
        f"Answers of degree up to 5 have {low:.1f} % of the weight at b = 0 and {high:.1f} % at b = 1."
    )


def test_the_finding_of_the_map_compares_both_label_sets(labelled: Pool):
    sections = {key: sections_of(ANALYSIS, context_of(labelled, key, key)) for key in ("current", "seeds")}
    best = {key: [row[2] for row in of["surface"].tables[1].rows] for key, of in sections.items()}
    moved = sum(a != b for a, b in zip(best["current"], best["seeds"], strict=True)) / 1681
    said = sections_of(ANALYSIS, context_of(labelled))["winners"].finding
    if moved:
        assert said.endswith(f"Under seeds only the best system is another at {100 * moved:.1f} % of the points.")
    else:
        assert said.endswith("Under seeds only the same systems are the best at the same points.")


def test_surfaces_are_drawn_of_two_systems_at_least_and_of_all_that_win(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled))
    won = columns_of(sections["winners"].tables[0])["labels"]
    shown = [SYSTEMS[i] for i in sections["surface"].chart.data["shown"]]
    winners = [s for s in SYSTEMS if won[s]]
    value = columns_of(sections["sharpness-labels"].tables[0])["a_1"]
    by_mrr = sorted(SYSTEMS, key=lambda name: -value[name])
    assert shown == (winners if len(winners) > 1 else by_mrr[:2])


def test_the_lead_on_the_map_is_over_the_second(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled))
    lead = sections["winners"].chart.data["lead"]
    for row in sections["surface"].tables[1].rows[::97]:
        first, second = sorted(row[3:], reverse=True)[:2]
        at = SHARPNESSES.index(float(row[0])), ROBUSTNESSES.index(float(row[1]))
        assert lead[at[1]][at[0]] == pytest.approx(first - second, abs=1e-5)
