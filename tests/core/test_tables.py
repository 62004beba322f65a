from __future__ import annotations

import pytest

from core.tables import CHOOSER_FROM, STACKED_FROM, framed, labelled

NUMBER = '<th class="number"><a href="?a>b">Labels</a></th>'
HEAD = f"<thead><tr><th>Name</th>{NUMBER}<th>95 &amp; up</th><th>More</th></tr></thead>"


def cells(row: str, head: str = HEAD) -> str:
    return labelled(f"{head}<tbody>{row}</tbody>").html.split("<tbody>")[1].removesuffix("</tbody>")


def test_a_cell_has_the_heading_of_its_column_and_what_names_the_row_has_none():
    row = '<tr><th scope="row">anna</th><td class="number">3</td><td>4</td></tr>'
    labels = ('<td class="number" data-label="Labels">3</td>', '<td data-label="95 &amp; up">4</td>')
    assert cells(row) == f'<tr><th scope="row">anna</th>{labels[0]}{labels[1]}</tr>'
    assert cells(row.replace("th", "td")).startswith('<tr><td scope="row">anna</td><td class="number" data-label')


@pytest.mark.parametrize("number", ["1", "1,165", '\n<a href="/jobs/23">23</a> '])
def test_a_row_that_begins_with_a_mere_number_says_of_what(number: str):
    assert cells(f"<tr><td>{number}</td><td>4</td></tr>").startswith(f'<tr><td data-label="Name">{number}</td>')
    assert cells("<tr><td>2 of 3</td><td>4</td></tr>").startswith("<tr><td>2 of 3</td>")


def test_each_row_and_the_foot_begin_at_the_first_column():
    rows = labelled(
        f"{HEAD}<tbody>{'<tr><td>a</td><td>1</td></tr>' * 2}</tbody><tfoot><tr><th>n</th><td>2</td></tr></tfoot>"
    )
    assert rows.html.count('<td data-label="Labels">') == 3
    assert 'data-label="Name"' not in rows.html


def test_a_cell_over_several_columns_moves_those_after_it():
    assert cells('<tr><td colspan="2">nothing</td><td>4</td></tr>') == (
        '<tr><td colspan="2">nothing</td><td data-label="95 &amp; up">4</td></tr>'
    )


@pytest.mark.parametrize("heading", ["", '<span class="visually-hidden">Choose</span>'])
def test_a_heading_that_nobody_sees_is_no_label(heading: str):
    assert cells(
        "<tr><td>a</td><td>b</td></tr>", f"<thead><tr><th>x</th><th>{heading}</th><th></th><th></th></tr></thead>"
    ) == ("<tr><td>a</td><td>b</td></tr>")


def test_an_empty_cell_has_no_label():
    assert cells("<tr><td>a</td><td> </td><td>b</td></tr>") == (
        '<tr><td>a</td><td> </td><td data-label="95 &amp; up">b</td></tr>'
    )


def test_a_cell_that_says_that_there_is_nothing_is_marked():
    assert cells("<tr><td>a</td><td>\n–\n</td><td>–1</td></tr>") == (
        '<tr><td>a</td><td data-label="Labels" data-none>\n–\n</td><td data-label="95 &amp; up">–1</td></tr>'
    )
    assert "data-none" in cells('<tr><td>a</td><td><span class="muted">–</span></td></tr>')


def test_a_note_below_a_heading_is_not_in_the_label():
    head = (
        '<thead><tr><th>x</th><th>Overturned <span class="cell-note">of many</span></th><th></th><th></th></tr></thead>'
    )
    assert 'data-label="Overturned"' in cells("<tr><td>a</td><td>b</td></tr>", head)


def test_plain_tables_of_a_text_get_a_frame():
    head = f"<thead><tr>{'<th>a</th>' * 4}</tr></thead>"
    assert framed(f"<p>x</p><table>{head}</table>") == (
        f'<p>x</p><div class="table-wrap" tabindex="0"><table class="table-stack">{head}</table></div>'
    )
    assert framed("<table><tr></tr></table>") == '<div class="table-wrap" tabindex="0"><table><tr></tr></table></div>'


def test_words_of_people_cannot_leave_the_attribute():
    head = "<thead><tr><th>x</th><th>&quot; onload=&quot;x</th><th></th><th></th></tr></thead>"
    assert 'data-label="&quot; onload=&quot;x"' in cells("<tr><td>a</td><td>b</td></tr>", head)


def test_columns_decide_what_a_narrow_page_does():
    def of(columns: int) -> tuple[bool, bool]:
        rows = labelled(f"<thead><tr>{'<th>a</th>' * columns}</tr></thead>")
        return rows.is_stacked, rows.has_chooser

    assert of(STACKED_FROM - 1) == (False, False)
    assert of(STACKED_FROM) == (True, False)
    assert of(CHOOSER_FROM - 1) == (True, False)
    assert of(CHOOSER_FROM) == (True, True)
    assert (STACKED_FROM, CHOOSER_FROM) == (4, 9)


def test_a_table_without_a_head_is_left_as_it_is():
    assert (
        labelled("<tbody><tr><td>a</td><td>b</td></tr></tbody>").html == "<tbody><tr><td>a</td><td>b</td></tr></tbody>"
    )


def test_a_table_of_few_columns_is_left_as_it_is():
    table = (
        "<thead><tr><th>a</th><th>b</th><th>c</th></tr></thead><tbody><tr><td>1</td><td>2</td><td>3</td></tr></tbody>"
    )
    assert labelled(table).html == table
