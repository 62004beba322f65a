"""Words that many sections share."""

from __future__ import annotations

import pytest

from evaluation.sections.wording import basis


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("15/2026-11-25T23:40:45.371684+00:00/1038/1c/r", "1,038 judged triples, the last of 2026-11-25 23:40:45 UTC"),
        ("15/2026-11-26T01:00:00+02:00/1/1c1f/ranks", "1 judged triple of 2026-11-25 23:00:00 UTC"),
        ("2026-11-25T23:40:45+00:00/20/1c1f/ranks 7-done", "20 judged triples, the last of 2026-11-25 23:40:45 UTC"),
        ("15/ranks", ""),
        ("15//ranks", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_a_version_says_how_many_labels_it_counts(version: str, said: str):
    assert basis(version) == said
