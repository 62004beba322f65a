"""Links as people paste them: cleaned, then accepted or refused."""

import pytest

from annotation.sources.evidence import clean_link, problem_of
from tests.annotation.factories import LINK, answer, claim
from tests.annotation.sources.links import ACCEPTED, CLEANED, HOSTS


@pytest.mark.parametrize("given", CLEANED)
def test_link_is_cleaned(given: str) -> None:
    assert clean_link(given) == CLEANED[given]
    assert clean_link(CLEANED[given]) == CLEANED[given]


@pytest.mark.parametrize("number", range(len(ACCEPTED)))
def test_link_is_accepted_or_refused(number: int) -> None:
    given, accepted = list(ACCEPTED.items())[number]
    assert (problem_of(given, HOSTS) == "") is accepted


def test_label_keeps_the_cleaned_link_and_the_passage_on_one_line(world) -> None:
    slot = claim(world.campaign, world.ann)[0]
    label = answer(
        world.ann, slot, source_url=f"see {LINK.removeprefix('https://')}.", passage=" Ada lived\n there. "
    ).label
    assert (label.source_url, label.passage) == (LINK, "Ada lived there.")
