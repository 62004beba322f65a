"""A small file that is huge when it is unpacked or read takes 600 MiB at most, and is refused."""

import pytest

from tests.corpus.memory import BOMBS, MOST, make_site, peak_of, place_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memory")
    make_site(folder)
    return folder


@pytest.mark.parametrize(("importer", "bomb"), [(importer, bomb) for importer in BOMBS for bomb in BOMBS[importer]])
def test_bomb_is_refused_within_its_memory(place, importer: str, bomb: str):
    at = place_of(place, importer)
    found = peak_of(at, BOMBS[importer][bomb](at))
    assert found.is_refused and found.mib <= MOST, found
