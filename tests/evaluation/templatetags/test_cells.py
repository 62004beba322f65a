"""What is undefined is explained under its table: a title attribute is no help on a phone or on paper."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.template.loader import render_to_string

from evaluation.sections.cell_text import cell_text, undefined_reasons
from evaluation.sections.section import Column, Table, cell
from evaluation.templatetags import cells as tags
from evaluation.templatetags.cells import table_rows, why_undefined

MISSING = "the run did not return 12 of 40 answers"


def table(*rows: list[Any], measures: tuple[str, ...] = ("Micro MR", "MAP")) -> dict[str, Any]:
    columns = [{"key": "system", "label": "System", "kind": "system", "note": ""}]
    columns += [{"key": name, "label": name, "kind": "value", "note": ""} for name in measures]
    return {"key": "t", "title": "T", "columns": columns, "rows": rows, "best": [], "foot": []}


def undefined(reason: str) -> dict[str, Any]:
    return {"value": None, "reason": reason}


def test_small_p_values_are_said_to_be_small():
    values = (0.0, 0.000099, 0.0001, 0.00012, 0.5, 1.0)
    told = ["< 0.0001", "< 0.0001", "0.0001", "0.0001", "0.5000", "1.0000"]
    assert [cell_text(value, "p") for value in values] == told


def test_reason_names_its_columns_and_rows():
    found = undefined_reasons(table(["conve", undefined(MISSING), 0.5], ["rotate", 3.5, 0.25]))
    assert found == ["the run did not return 12 of 40 answers (Micro MR of ConvE)"]


def test_reason_stands_once_and_without_rows_where_all_have_it():
    rows = [[name, undefined("one system only."), undefined("one system only.")] for name in "ab"]
    assert undefined_reasons(table(*rows)) == ["one system only (all columns)"]
    rows = [["a", undefined("x"), undefined("y")], ["b", 1.0, undefined("y")]]
    assert undefined_reasons(table(*rows)) == ["x (Micro MR of a)", "y (MAP)"]


def test_many_columns_rows_and_reasons_are_cut_short():
    names = tuple("ABCDEFG")
    row = [undefined("x")] * 6 + [1.0]
    found = undefined_reasons(table(*[[str(i), *row] for i in range(7)], ["z", *[1.0] * 7], measures=names))
    assert found == ["x (A, B, C, D and 2 more of 0, 1, 2, 3 and 3 more)"]
    found = undefined_reasons(table(["a", *row[:2], 1.0], measures=("A, disjoint", "B, disjoint", "C")))
    assert found == ["x (A, disjoint / B, disjoint)"]
    many = table(*[[f"s{i}", undefined(f"reason {i}"), 1.0] for i in range(20)])
    assert undefined_reasons(many)[7:] == ["reason 7 (Micro MR of s7)", "and 12 more reasons"]


def test_rows_that_are_no_systems_are_named_with_what_they_are():
    shown = table([0, undefined("x"), 1.0], [1, 2.0, 1.0])
    shown["columns"][0] |= {"label": "Depth", "kind": "count"}
    assert undefined_reasons(shown) == ["x (Micro MR, Depth 0)"]


def test_defined_table_has_no_line():
    assert undefined_reasons(table(["a", 1.0, {"value": 0.0, "low": 0.0, "high": 1.0}])) == []
    assert why_undefined(table(["a", 1.0, 2.0])) == ""


def test_line_of_a_table_stands_in_the_templates_with_its_text_escaped():
    shown = Table(
        "t",
        "T",
        [Column("system", "<b>System", "system"), Column("mr", "<i>MR")],
        [["<u>a", cell(float("nan"), "no <answer>")], ["b", 1.0]],
    )
    line = '<p class="muted small">Undefined: no &lt;answer&gt; (&lt;i&gt;MR of &lt;u&gt;a).</p>'
    assert why_undefined(shown) == line
    assert line in render_to_string("evaluation/overview/report_table.html", {"table": shown})
    section = {"key": "s", "title": "S", "text": "t", "caption": "c", "notes": [], "chart": None, "finding": ""}
    rows = table(["conve", undefined(MISSING), 0.5], ["rotate", 3.5, 0.25])
    html = render_to_string(
        "evaluation/sections/section.html", {"section": {**section, "tables": [rows]}, "is_live": False}
    )
    assert '<p class="muted small">Undefined: the run did not return 12 of 40 answers (Micro MR of ConvE).</p>' in html


def test_minus_is_one_sign_whatever_the_size():
    values = [(-4083.4, "value"), (-0.25, "value"), (-4083.4, "count"), (-12.5, "change"), (-0.5, "tau")]
    assert [cell_text(value, kind) for value, kind in values] == ["−4,083.4", "−0.2500", "−4,083", "−12.5", "−0.50"]


def test_tables_name_systems_as_in_the_literature():
    columns = [
        {"key": "system", "label": "System", "kind": "system"},
        {"key": "rotate", "label": "rotate", "kind": "p"},
    ]
    matrix = {"columns": columns, "rows": [["rotate", None], ["theirs", 0.5]]}
    assert [tags.cell(row[0], "system") for row in matrix["rows"]] == ["RotatE", "theirs"]
    assert [tags.heading(matrix, column) for column in columns] == ["System", "RotatE"]
    of_relations = {"columns": [columns[0] | {"kind": "text"}, columns[1]], "rows": [["rotate", 1]]}
    assert tags.heading(of_relations, columns[1]) == "rotate" == tags.cell("rotate", "text")


def test_rows_mark_the_best_and_what_cannot_be_compared_and_escape_names():
    shown = asdict(
        Table(
            "t",
            "T",
            [Column("system", "System", "system"), Column("mrr", "MRR")],
            [["<a>", {"value": 0.5, "low": 0.4, "high": 0.6}], ["b", {"value": None, "reason": "no <answer>"}]],
            best=[(0, 1)],
        )
    )
    first, second = table_rows(shown, {"b": {}}).removesuffix("</tr>").split("</tr>")
    assert first == (
        '<tr><th scope="row" data-system="&lt;a&gt;">&lt;a&gt;</th>'
        '<td class="number strong">0.5000 <span class="muted">[0.4000, 0.6000]</span></td>'
    )
    assert second == (
        '<tr><th scope="row" data-system="b">b <span class="not-comparable">not comparable</span></th>'
        '<td class="number"><span class="undefined" title="no &lt;answer&gt;">undefined</span></td>'
    )
