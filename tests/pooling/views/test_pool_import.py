"""The page that imports a pool made elsewhere."""

from __future__ import annotations

from django.core.files.uploadedfile import SimpleUploadedFile

from core.models import AuditEntry
from pooling.enums import PoolingAct
from pooling.models import Pool
from pooling.views.pool_import import IMPORTED, LEFT_OUT
from tests.page import read

URL = "/import-pool"
POOL = b"p0\tknows\tp4\t1\trotate:tail:1\np0\tknows\tp5\t2\np0\tknows\tp1\t1\n"  # the last is a fact of train


def files(pool: bytes = POOL, seeds: bytes = b"p0\tknows\tp3\n") -> dict:
    return {"file": SimpleUploadedFile("pool.tsv", pool), "seeds_file": SimpleUploadedFile("seeds.tsv", seeds)}


def test_a_pool_is_imported_with_its_seeds_and_filters(graph, manager):
    asked = {"graph": "town", "name": "theirs", "filters": ["self-answer"]}
    response = manager.post(URL, asked | files(), follow=True)
    pool = Pool.objects.get()
    assert (pool.graph, pool.name, pool.filters, pool.seed_source) == (graph, "theirs", ["self-answer"], "seeds.tsv")
    assert list(pool.triples.values_list("head", "relation", "tail").order_by("tail")) == [(0, 0, 4), (0, 0, 5)]
    page = read(response)
    assert page.messages == [IMPORTED.format("theirs", 2) + LEFT_OUT.format(1)]
    assert response.redirect_chain == [("/pools/theirs", 302)]
    assert AuditEntry.objects.get(act=PoolingAct.POOL_IMPORTED).person == response.wsgi_request.user


def test_what_is_wrong_in_a_file_is_told_with_its_line_and_nothing_is_imported(graph, manager):
    response = manager.post(URL, {"graph": "town", "name": "theirs"} | files(seeds=b"p0\tknows\tnobody\n"))
    (error,) = response.context["form"].non_field_errors()
    assert (response.status_code, error.startswith("seeds.tsv:1: ")) == (422, True)
    assert not Pool.objects.exists()


def test_without_files_each_is_asked_for(graph, manager):
    response = manager.post(URL, {"graph": "town", "name": "theirs"})
    assert set(response.context["form"].errors) == {"file", "seeds_file"}


def test_without_a_graph_the_page_leads_to_importing_one(db, manager):
    assert read(manager.get(URL)).one("empty").one(tag="a")["href"] == "/import-graph"
