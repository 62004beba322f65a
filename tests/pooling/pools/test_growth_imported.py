"""Pools made elsewhere that grow here: what their file does not say stays unknown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pooling.errors import PoolError
from pooling.models import Graph, Pool
from pooling.pools import growth as pool_growth
from pooling.pools.build import import_pool
from pooling.pools.filtering import filter_counts, refilter_pool, unnamed_finders
from pooling.pools.growth import extend_pool
from pooling.pools.kernels.gathering import PROVENANCE, Gathered
from pooling.pools.rows import read_rows
from tests.factories import make_pool, make_system, town
from tests.pooling.pools.growth_cases import content, extend


@pytest.fixture
def elsewhere(trained: Graph, tmp_path: Path) -> Pool:
    """Seven triples from elsewhere at depth up to 3, of which one names who found it."""
    (tmp_path / "seeds.tsv").write_text("".join("\t".join(row) + "\n" for row in town()["test"][:6]))
    lines = ["p7\tlives in\tp8\t3", "p7\tlives in\tcity 1\t2\ttransh:head:2", "north land\thas city\tcity 1\t1"]
    (tmp_path / "pool.tsv").write_text("\n".join(lines))
    make_system(trained, "rescal")
    return import_pool(trained, name="p", file=tmp_path / "pool.tsv", seeds_file=tmp_path / "seeds.tsv")


def test_an_imported_pool_grows_by_systems_and_then_by_seeds(elsewhere: Pool):
    before = content(elsewhere)
    grown = extend(elsewhere, systems=["rescal"])
    grown = extend(grown, count=4, seed=1)
    assert (grown.depth, grown.contributors) == (3, ["transh", "rescal"])
    held = content(grown)
    for triple, (depth, reason, findings) in before.items():
        assert held[triple][0] <= depth
        assert held[triple][1] == reason or reason == ""
        assert [f for f in held[triple][2] if f.system == "transh"] == findings
    built = make_pool(elsewhere.graph, "built", sample=0.2, depth=3, systems=["rescal"])
    found = {f for _, _, findings in held.values() for f in findings if f.system == "rescal"}
    assert {f.system for _, _, findings in content(built).values() for f in findings} == {"rescal"}
    assert {(f.side, f.rank) for f in found} == {(side, rank) for side in ("tail", "head") for rank in (1, 2, 3)}
    assert grown.seeds.count() == 10


def test_a_triple_that_any_question_may_have_found_stays_filtered_when_a_harmless_one_does(
    trained: Graph, tmp_path: Path, monkeypatch
):
    """Imported without findings it counts as found by the trivial tail question; a head question's is not trivial."""
    (tmp_path / "seeds.tsv").write_text("".join("\t".join(row) + "\n" for row in town()["test"][30:32]))
    (tmp_path / "pool.tsv").write_text("50%\tlives in\tcity 0\t3\n")
    pool = import_pool(trained, name="p", file=tmp_path / "pool.tsv", seeds_file=tmp_path / "seeds.tsv")
    row = pool.triples.get()
    assert row.reason == "category-tail"
    found = Gathered(
        np.array([[row.head, row.relation, row.tail]], np.int32),
        np.array([2]),
        np.array([(0, 1, 2)], PROVENANCE),
        np.array([0, 1]),
    )
    monkeypatch.setattr(pool_growth, "gather_runs", lambda *args: found)
    pool = extend(pool, systems=["transe"])
    assert content(pool) == {("50%", "lives in", "city 0"): (2, "category-tail", [("transe", "head", 2)])}


def test_other_filters_take_a_triple_without_names_by_every_question_whoever_found_it_here(
    trained: Graph, tmp_path: Path
):
    """Trivial for a tail question only, and a head question of a system here finds it too."""
    (tmp_path / "seeds.tsv").write_text("".join("\t".join(row) + "\n" for row in town()["test"][30:32]))
    harmless = {"unnamed": "", "named": "\ttransh:head:3"}
    for name, provenance in harmless.items():
        (tmp_path / "pool.tsv").write_text(f"50%\tlives in\tcity 0\t3{provenance}\n")
        files = {"file": tmp_path / "pool.tsv", "seeds_file": tmp_path / "seeds.tsv"}
        pool = extend(import_pool(trained, name=name, filters=[], **files), systems=["transe"])
        here = np.array([(pool.contributors.index("transe"), 1, 2)], PROVENANCE).tobytes()
        there = np.array([(0, 1, 3)], PROVENANCE).tobytes()
        first, fresh = pool.triples.order_by("id")[:2]
        pool.triples.filter(pk=first.pk).update(provenance=(there if provenance else b"") + here)
        pool.triples.filter(pk=fresh.pk).update(provenance=here)
        unnamed = unnamed_finders(pool, read_rows(pool)[1]).tolist()
        assert unnamed == [name == "unnamed", *[False] * (pool.triples.count() - 1)]
        taken = filter_counts(pool, ["category-tail"])["category-tail"]
        refilter_pool(pool, ["category-tail"])
        reasons = list(pool.triples.order_by("id").values_list("reason", flat=True))
        assert reasons[0] == ("category-tail" if name == "unnamed" else "")
        assert reasons.count("category-tail") == taken


def test_an_imported_pool_does_not_become_deeper(elsewhere: Pool):
    with pytest.raises(PoolError) as caught:
        extend_pool(elsewhere, depth=5)
    assert str(caught.value) == (
        "Pool p was made elsewhere to depth 3, and what its systems returned below is not here: it grows by systems "
        "and seeds, not by depth."
    )


def test_an_imported_pool_needs_a_system_to_ask_about_new_seeds(elsewhere: Pool):
    with pytest.raises(PoolError) as caught:
        extend_pool(elsewhere, count=2)
    assert str(caught.value) == (
        "Pool p was made elsewhere, and its systems are not on this site. "
        "Name systems of this site together with the seeds."
    )
    assert extend(elsewhere, count=2, systems=["rescal"]).seeds.count() == 8


def test_a_system_with_the_name_of_one_elsewhere_is_refused(elsewhere: Pool):
    Pool.objects.update(contributors=["rescal"])
    with pytest.raises(PoolError) as caught:
        extend_pool(elsewhere, systems=["rescal"])
    assert str(caught.value) == (
        "Pool p came with findings of another rescal, and one name would stand for two systems: clone the system "
        "under a name of its own, and add the clone."
    )
