"""Systems are named as in the literature wherever a page says something in words."""

import re
from collections.abc import Iterator

import pytest

from evaluation.pages.registry import ANALYSES
from evaluation.sections.section import Analysis, Section
from pooling.models import Pool
from tests.evaluation.cases import context_of, sections_of

KEYS = re.compile(r"\b(transe|distmult|complex)\b")  # of the pool's systems


def prose(section: Section) -> Iterator[str]:
    yield from (section.title, section.text, section.caption, section.finding, *section.notes)
    for table in section.tables:
        yield table.title
        places = [i for i, column in enumerate(table.columns) if column.kind == "text"]
        yield from (str(row[i]) for row in table.rows for i in places)


@pytest.mark.django_db
@pytest.mark.usefixtures("few_repeats")
@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda analysis: analysis.key)
def test_no_page_names_a_system_by_its_key(analysis: Analysis, labelled: Pool):
    sections = sections_of(analysis, context_of(labelled, measures=("micro_mrr",)))
    assert [text for section in sections.values() for text in prose(section) if KEYS.search(text)] == []
