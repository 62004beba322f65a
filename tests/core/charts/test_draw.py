"""Drawings of charts: what is in them, that they stay inside their sheet, and that text of others is text."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from core.charts.draw import chart_html, drawing
from core.charts.frame import HALF, NARROW, SMALL_TEXT, WIDE
from core.charts.grid import columns
from core.charts.labels import width_of
from core.charts.matrices import OWN, OWN_MEANS
from tests.pages.test_theme import DARK, LIGHT, contrast

EVIL = '</svg><script>alert("1")</script>'
SYSTEMS = ["transe", "rotate", "complex"]
LINES: dict[str, Any] = {
    "series": [
        {"name": name, "system": i, "x": [1, 2, 3], "y": [i / 10, None, i / 10 + 0.2], "low": [0] * 3, "high": [1] * 3}
        for i, name in enumerate(SYSTEMS)
    ],
    "x": "judgements", "y": "tau", "references": [{"y": 0.3, "name": "target"}],
}  # fmt: skip
POINTS = {
    "series": [
        {"name": name, "measure": i, "x": [i / 9, 1 + i / 9], "y": [0.5, 0.7], "low": [0.4, -3], "high": [0.6, 5]}
        for i, name in enumerate(["MRR", "MAP"])
    ],
    "y": "coefficient", "yrange": [0, 1], "xaxis": {"tickvals": [0, 1], "ticktext": ["tau-b", "rho"]},
}  # fmt: skip
BOX = {"x": "rotate", "low": 0.1, "q1": 0.2, "median": 0.3, "q3": 0.5, "high": 0.9}
GRID: dict[str, Any] = {"x": [0, 1, 2], "y": [0, 1], "names": {"x": "a", "y": "b", "z": "PROBE"}}
CHARTS: dict[str, dict[str, Any]] = {
    "lines": LINES,
    "points": POINTS,
    "panels": {"panels": [{"name": "MRR", **LINES}, {"name": "MAP", **LINES}]},
    "grid": {
        "panels": [{"name": one["name"], "system": i, "series": [one]} for i, one in enumerate(LINES["series"])] * 2,
        "x": "judgements", "y": "tau", "references": LINES["references"],
    },
    "slope": {
        "left": "seeds", "right": "now",
        "lines": [{"system": i, "name": n, "left": i + 1, "right": 3 - i} for i, n in enumerate(SYSTEMS)],
    },
    "matrix": {"rows": SYSTEMS, "columns": SYSTEMS, "values": [[1, 0.8, 0.9], [0.8, 1, None], [0.9, 0.78, 1]]},
    "box": {"groups": [{"name": "rotate, now", "system": 1, "slot": "now", "boxes": [BOX]}], "y": "MRR"},
    "bars": {"series": [{"name": "only it", "x": SYSTEMS, "y": [3, 0, 5]}], "x": "triples", "lying": True},
    "winners": {
        **GRID, "best": [[0, 0, 1], [0, -1, 1]], "lead": [[0] * 3] * 2, "points": [{"name": "MRR", "x": 1, "y": 0}],
        "regions": [
            {"system": 0, "name": "transe", "share": 0.5, "label": {"x": 0, "y": 0}},
            {"system": None, "name": "several tie", "share": 1 / 6, "label": None},
        ],
    },
    "surfaces": {**GRID, "shown": [0], "systems": [{"system": 0, "name": "transe", "z": [[0, 0.2, 0], [1, 2, None]]}]},
}  # fmt: skip


def parsed(kind: str, data: dict[str, Any]) -> ElementTree.Element:
    """Return the drawings of a chart, which must be well-formed."""
    return ElementTree.fromstring(f"<div>{chart_html(kind, data).replace(' xmlns=', ' data-xmlns=')}</div>")


def marks(root: ElementTree.Element, drawn: str = "wide") -> dict[str, ElementTree.Element]:
    """Return the groups of series that hover knows, by name, of one drawing."""
    found = {}
    for svg in root.iter("svg"):
        if drawn in svg.get("class", "").split():
            found |= {one.get("data-name", ""): one for one in svg.iter("g") if one.get("data-at")}
    return found


def places(mark: ElementTree.Element) -> list[tuple[float, float]]:
    pairs = [at.split(",") for at in mark.get("data-at", "").split()]
    return [(float(x), float(y)) for x, y in pairs]


@pytest.mark.parametrize("kind", CHARTS)
def test_every_kind_is_drawn_without_styles_or_ids(kind: str):
    html = chart_html(kind, CHARTS[kind])
    root = parsed(kind, CHARTS[kind])
    assert {svg.get("class") for svg in root} <= {"drawing wide", "drawing narrow", "drawing panel"} and len(root) > 0
    assert not re.search(r'\s(style|id)="', html)
    assert "nan" not in html and "None" not in html


def test_a_chart_beside_another_is_drawn_for_half_the_page():
    root = ElementTree.fromstring(
        f"<div>{chart_html('lines', LINES, half=True).replace(' xmlns=', ' data-xmlns=')}</div>"
    )
    assert [(svg.get("class"), svg.get("width")) for svg in root] == [
        ("drawing half", "480"),
        ("drawing narrow", "320"),
    ]


@pytest.mark.parametrize("kind", sorted({*CHARTS} - {"panels", "surfaces"}))
@pytest.mark.parametrize("width", [WIDE, HALF, NARROW])
def test_texts_begin_and_points_are_inside_the_sheet(kind: str, width: float):
    drawn = drawing(kind, CHARTS[kind], width)
    root = ElementTree.fromstring(f"<svg>{drawn.body}</svg>")
    assert drawn.width <= width
    for text in root.iter("text"):
        x, y = float(text.get("x", "")), float(text.get("y", ""))
        assert 0 <= x <= drawn.width and 0 <= y <= drawn.height
    for mark in root.iter("g"):
        assert all(0 <= x <= drawn.width and 0 <= y <= drawn.height for x, y in places(mark))


def test_turned_names_of_columns_end_inside_the_sheet():
    data = {"rows": ["a"], "columns": [f"Macro Hits@{k}" for k in range(9)], "values": [[0.1 * k for k in range(9)]]}
    drawn = drawing("matrix", data, NARROW)
    root = ElementTree.fromstring(f"<svg>{drawn.body}</svg>")
    turned = [text for text in root.iter("text") if "rotate" in text.get("transform", "")]
    ends = [float(text.get("x", "")) + 0.7 * width_of("".join(text.itertext())) for text in turned]
    assert len(ends) == 9 and max(ends) <= NARROW + 10


@pytest.mark.parametrize("kind", ["lines", "points", "bars", "slope", "matrix"])
def test_names_of_others_are_text(kind: str):
    data = eval(repr(CHARTS[kind]).replace("'transe'", repr(EVIL)).replace("'MRR'", repr(EVIL)))
    html = chart_html(kind, data)
    assert "<script" not in html and "&lt;script" in html


def test_a_name_away_from_its_point_has_a_line_to_it():
    close = [{"name": f"system {i}", "system": i, "x": [0.5 + i / 200], "y": [0.5]} for i in range(6)]
    ends = {"name": "end", "x": [0, 1], "y": [0, 1], "system": 7}
    svg = parsed("lines", {"series": [*close, ends]})[0]
    assert {f"system {i}" for i in range(6)} <= {text.text for text in svg.iter("text")}
    assert [path for path in svg.iter("path") if path.get("class") == "leader"]


@pytest.mark.parametrize(("width", "across", "tops"), [(WIDE, 3, 2), (NARROW, 2, 3)])
def test_panels_of_a_grid_are_in_rows_on_the_same_axes(width: float, across: int, tops: int):
    root = ElementTree.fromstring(f"<svg>{drawing('grid', CHARTS['grid'], width).body}</svg>")
    heads = [text for text in root.iter("text") if text.get("class") == "head"]
    assert [text.text for text in heads] == SYSTEMS * 2
    rows, starts = ({float(text.get(at, "")) for text in heads} for at in "yx")
    assert (len(starts), len(rows)) == (across, tops)
    found = [places(one) for one in root.iter("g") if one.get("data-at")]
    assert len(found) == 6
    # the same place within each panel: its first point is (1, i / 10), after a gap (3, i / 10 + 0.2)
    inside = [
        (x - float(h.get("x", "")), y - float(h.get("y", ""))) for h, ((x, y), _) in zip(heads, found, strict=True)
    ]
    assert inside[0] == pytest.approx(inside[3], abs=0.2) and inside[0][1] > inside[1][1] > inside[2][1]
    ticks = [text.text for text in root.iter("text") if text.get("class") == "tick"]
    assert ticks.count("0.0") + ticks.count("0.00") == tops, "y is told once a row"
    names = [text.text for text in root.iter("text") if text.get("class") == "axis-name"]
    assert sorted(names) == ["judgements", "tau"]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_ticks_of_a_panel_do_not_reach_into_the_next_one(width: float):
    panels = [{"name": str(i), "series": [{"name": "tau", "x": [0, 1000], "y": [0, 1]}]} for i in range(6)]
    root = ElementTree.fromstring(f"<svg>{drawing('grid', {'panels': panels}, width).body}</svg>")
    ticks = [text for text in root.iter("text") if text.get("text-anchor") == "middle"]
    assert [text.text for text in ticks].count("1,000") == columns(6, width)
    spans = sorted(
        (float(text.get("x", "")) - wide / 2, float(text.get("x", "")) + wide / 2)
        for text in ticks
        for wide in [width_of(text.text or "", SMALL_TEXT)]
    )
    assert all(after[0] - before[1] >= 6 for before, after in pairwise(spans))


@pytest.mark.parametrize(("count", "across"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3)])
def test_rows_of_a_grid_are_full_where_they_can_be(count: int, across: int):
    assert columns(count, WIDE) == across


def test_a_line_has_its_values_and_a_gap_where_one_is_undefined():
    rotate = marks(parsed("lines", LINES))["rotate"]
    assert rotate.get("data-says", "").split("|") == [
        "judgements 1: 0.1000 (0 to 1)", "judgements 3: 0.3000 (0 to 1)",
    ]  # fmt: skip
    path = next(one for one in rotate.iter("path") if one.get("class") == "line")
    assert path.get("d", "").count("M") == 2


def test_a_system_has_its_colour_and_dashes_in_every_kind():
    for kind in ("lines", "slope"):
        rotate = marks(parsed(kind, CHARTS[kind]))["rotate"]
        assert (rotate.get("class"), rotate.get("data-mark")) == ("mark series-2", "1")
        assert next(one for one in rotate.iter("path") if one.get("class") == "line").get("stroke-dasharray") == "6 4"


def test_lines_are_named_at_their_ends_in_their_order():
    svg = parsed("lines", LINES)[0]
    named = {text.text: float(text.get("y", "")) for text in svg.iter("text") if text.text in SYSTEMS}
    assert sorted(named, key=named.__getitem__) == ["complex", "rotate", "transe"]
    assert all(b - a >= 14 for a, b in pairwise(sorted(named.values())))


def test_uncertainty_ends_where_values_are_impossible():
    data = {**LINES, "possible": [0.2, 0.35]}
    assert marks(parsed("lines", data))["rotate"].get("data-says", "").split("|")[1] == (
        "judgements 3: 0.3000 (0.2000 to 0.3500)"
    )


def test_no_line_connects_names():
    data = {"series": [{"name": "MRR", "x": SYSTEMS, "y": [0.2, 0.4, 0.3], "measure": 0}], "y": "MRR", "sorted": True}
    mark = marks(parsed("lines", data))["MRR"]
    assert [one.get("class") for one in mark.iter("path")] == ["dots"]
    rows = [y for _, y in sorted(places(mark), key=lambda at: -at[0])]
    assert rows == sorted(rows), "the largest is on top"


def test_series_with_a_row_each_need_no_key_and_no_slots():
    series = [{"name": n, "measure": i, "x": [i], "y": [0.5], "low": [0.4], "high": [0.6]} for i, n in enumerate("ab")]
    data = {"series": series, "y": "tau", "xaxis": {"tickvals": [0, 1], "ticktext": ["a", "b"]}}
    svg = parsed("points", data)[0]
    assert sorted(text.text or "" for text in svg.iter("text"))[-3:] == ["a", "b", "tau"]
    assert [places(mark)[0][1] for mark in marks(parsed("points", data)).values()] == [16, 40]


def test_an_ordered_axis_keeps_its_lines():
    data = {"series": [{"name": "rotate", "x": ["0.5", "1", "2"], "y": [1, 2, 3]}], "xaxis": {"type": "category"}}
    mark = marks(parsed("lines", data))["rotate"]
    assert "line" in [one.get("class") for one in mark.iter("path")] and len(places(mark)) == 3


@pytest.mark.parametrize(("days", "widest"), [(1, 64), (2, 64), (30, 25)])
def test_bars_of_few_days_are_no_walls(days: int, widest: int):
    data = {"series": [{"name": "labels", "x": [str(day) for day in range(days)], "y": [5] * days}]}
    drawn = drawing("bars", {**data, "xaxis": {"type": "category"}}, WIDE).body
    bars = [rect for rect in ElementTree.fromstring(f"<svg>{drawn}</svg>").iter("rect") if rect.get("class") == "bar"]
    assert len(bars) == days and all(10 < float(bar.get("width", "")) <= widest for bar in bars)


def test_bars_beside_each_other_look_as_their_key_says():
    sides = [{"name": name, "measure": i, "x": ["1", "2"], "y": [0.5, 0.25]} for i, name in enumerate(["tail", "head"])]
    root = parsed("bars", {"series": sides, "xaxis": {"type": "category"}})[0]
    for name, kind in (("tail", "bar"), ("head", "bar pale")):
        groups = [
            one for one in root.iter("g") if name in {own.text for own in one.iter("text")} | {one.get("data-name")}
        ]
        assert len(groups) == 2  # in the key, and its bars
        assert {rect.get("class") for group in groups for rect in group.iter("rect")} == {kind}


def test_dots_of_series_without_a_number_differ_in_shape_in_the_key_too():
    tests = [{"name": name, "colour": "--muted", "x": SYSTEMS, "y": [1, 2, 3]} for name in ("HSD", "Holm", "BH")]
    root = parsed("points", {"series": tests})[0]
    found: dict[str, set[str]] = {}
    for group in root.iter("g"):
        name = group.get("data-name") or "".join(text.text or "" for text in group.iter("text"))
        for path in group.iter("path"):
            if "dots" in path.get("class", ""):
                found.setdefault(name, set()).add(re.sub(r"[\d.]+", "", path.get("d", "").rpartition("M")[2]))
    assert len(found) == len({*map(frozenset, found.values())}) == 3
    assert all(len(shapes) == 1 for shapes in found.values())


def test_dots_of_a_row_do_not_cover_each_other():
    values = {"HSD": [0.5, 0.1], "Holm": [0.5, 0.5], "BH": [0.502, 0.9], "t": [0.5, 0.101]}
    series = [{"name": name, "x": SYSTEMS[:2], "y": own} for name, own in values.items()]
    found = marks(parsed("points", {"series": series, "yrange": [0, 1]}))
    first, second = ([places(mark)[row] for mark in found.values()] for row in (0, 1))
    heights = sorted(y for _, y in first)
    assert all(later - earlier >= 4 for earlier, later in pairwise(heights)), "all four of the first row"
    assert heights[-1] - heights[0] + 9 <= 24, "inside their row"
    (hsd, holm, bh, t) = (y for _, y in second)
    assert holm == bh == sum(heights) / 4 + 24 and abs(hsd - t) == 9, "those apart stay in the middle"


def test_points_beside_a_tick_belong_to_its_name():
    mark = marks(parsed("points", POINTS))["MAP"]
    assert mark.get("data-says") == "tau-b: 0.5000 (0.4000 to 0.6000)|rho: 0.7000 (−3 to 5)"


def test_two_named_states_are_a_slope_of_values():
    data = {
        "series": [{"name": n, "system": i, "x": [0, 1], "y": [0.2 + i / 10, 0.5]} for i, n in enumerate(SYSTEMS)],
        "y": "MRR", "xaxis": {"tickvals": [0, 1], "ticktext": ["seeds", "now"]},
    }  # fmt: skip
    root = parsed("lines", data)
    assert marks(root)["rotate"].get("data-says", "").split("|")[0] == "seeds 0.3000; now 0.5000"
    right = [text for text in root[0].iter("text") if (text.text or "").startswith("0.5000 ")]
    ys = sorted(float(text.get("y", "")) for text in right)
    assert len(ys) == 3 and all(b - a >= 13.9 for a, b in pairwise(ys))


def test_a_matrix_spans_its_own_values_without_the_diagonal():
    cells = [one for one in parsed("matrix", CHARTS["matrix"])[0].iter("rect") if one.find("title") is not None]
    opacity = {one.find("title").text: one.get("fill-opacity") for one in cells}  # type: ignore[union-attr]
    assert opacity["complex, rotate: 0.78"] == "0.06" and opacity["transe, complex: 0.90"] == "0.90"
    assert opacity["transe: 1.00"] is None and opacity["rotate, complex: –"] is None


def test_the_diagonal_of_a_matrix_has_a_look_of_its_own_that_the_key_names():
    root = parsed("matrix", CHARTS["matrix"])[0]
    own = [one for one in root.iter("rect") if one.get("class") == OWN]
    assert len(own) == len(SYSTEMS) + 1  # the last one in the key
    assert {one.get("fill-opacity") for one in own} == {None}
    assert [text.text for text in root.iter("text")].count(OWN_MEANS) == 1
    for svg in parsed("matrix", {**CHARTS["matrix"], "rows": ["a long name"] * 3, "columns": ["a long name"] * 3}):
        (words,) = [text for text in svg.iter("text") if text.text == OWN_MEANS]
        assert float(words.get("x", "")) + width_of(OWN_MEANS, SMALL_TEXT) <= float(svg.get("width", ""))
        assert float(words.get("y", "")) <= float(svg.get("height", ""))
    other = parsed("matrix", {"rows": ["a"], "columns": ["b"], "values": [[1]]})[0]
    assert OWN_MEANS not in [text.text for text in other.iter("text")]
    assert not [one for one in other.iter("rect") if one.get("class") == OWN]


def test_the_text_of_a_cell_is_readable_on_its_colour():
    """Compute the contrast of black and white on the blend of each series with the ground, in both themes."""
    data = {"rows": [str(k) for k in range(101)], "columns": ["MRR"], "values": [[k / 100] for k in range(101)]}
    drawn = [one for one in parsed("matrix", data)[0].iter() if one.get("class", "").startswith("cell")]
    shades = [float(one.get("fill-opacity", "")) for one in drawn if one.get("class") == "cell"][:101]
    kinds = [one.get("class", "") for one in drawn if one.get("class", "").startswith("cell-text")]
    assert {*kinds} == {"cell-text", "cell-text half", "cell-text deep"} and len(kinds) == 101
    for theme, low, deep in ((LIGHT, "#000000", "#ffffff"), (DARK, "#ffffff", "#121212")):
        inks = {"cell-text": low, "cell-text half": "#000000", "cell-text deep": deep}
        for shade, kind in zip(shades, kinds, strict=True):
            ground = mixed(theme["--series-1"], theme["--surface"], shade)
            assert contrast(inks[kind], ground) >= 4.5, (shade, kind)


def mixed(one: str, other: str, share: float) -> str:
    pairs = ((int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def test_the_smaller_a_p_value_the_darker():
    data = {
        "rows": ["a", "b"],
        "columns": ["a", "b"],
        "values": [[None, 0.00001], [0.5, None]],
        "smallest": 0.0001,
        "digits": 4,
    }
    cells = [one for one in parsed("matrix", data)[0].iter("rect") if one.find("title") is not None]
    told = {one.find("title").text: float(one.get("fill-opacity") or 0) for one in cells}  # type: ignore[union-attr]
    assert told["a, b: < 0.0001"] == 0.9 and 0.06 < told["b, a: 0.5000"] < 0.2


def test_several_small_drawings_take_the_place_of_two_sizes():
    assert [svg.get("class") for svg in parsed("panels", CHARTS["panels"])] == ["drawing panel"] * 2
    assert [svg.get("class") for svg in parsed("surfaces", CHARTS["surfaces"])] == ["drawing panel"]


def test_a_region_covers_its_cells():
    groups = [g for g in parsed("winners", CHARTS["winners"])[0].iter("g") if g.get("data-name") == "transe"]
    (path,) = [path.get("d", "") for g in groups for path in g.iter("path") if path.get("class") == "region"]
    assert path.count("M") == 2  # a run of two cells below, one cell above


def test_rows_of_a_region_share_their_edges():
    n = 41  # a height that no row divides into tenths of a pixel
    steps = [i / (n - 1) for i in range(n)]
    data = {**GRID, "x": steps, "y": steps, "best": [[0] * n] * n, "lead": [[0] * n] * n, "points": []}
    data["regions"] = [{"system": 0, "name": "transe", "share": 1.0, "label": None}]
    root = parsed("winners", data)[0]
    (path,) = [path.get("d", "") for path in root.iter("path") if path.get("class") == "region"]
    rows = [re.findall(r"-?[\d.]+", part) for part in path.split("M")[1:]]  # left, top, right, bottom, left
    assert len(rows) == n and {(row[0], row[2], row[4]) for row in rows} == {(rows[0][0], rows[0][2], rows[0][0])}
    assert [row[1] for row in rows[:-1]] == [row[3] for row in rows[1:]]
