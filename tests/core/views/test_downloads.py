"""Text files as downloads."""

import pytest

from core.views.files import csv_response, text_response


def test_csv_response_is_a_safe_file_with_its_name():
    answer = csv_response([("name", "n"), ("=1+1", -2), ("two", None)], "p-seeds.csv")
    assert answer.content.decode() == "name,n\r\n'=1+1,-2\r\ntwo,\r\n"
    assert answer.headers == {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": 'attachment; filename="p-seeds.csv"',
    }


@pytest.mark.parametrize(
    ("name", "content_type"),
    [("p.tsv", "text/tab-separated-values; charset=utf-8"), ("own-data.json", "application/json")],
)
def test_content_type_follows_from_the_name(name: str, content_type: str):
    answer = text_response("é\t1\n", name)
    assert (answer.content.decode(), answer["Content-Type"]) == ("é\t1\n", content_type)
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
