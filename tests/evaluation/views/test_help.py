"""The help pages; who may read them is in tests/pages/test_access.py."""

from __future__ import annotations


def test_help_page_is_the_documentation_with_its_contents(sign_in):
    page = sign_in("researcher").get("/help/evaluation").content.decode()
    assert "<h1>Evaluation</h1>" in page
    assert '<li><a href="#discriminative-power">Discriminative power</a></li>' in page
    assert '<h2 id="discriminative-power">Discriminative power</h2>' in page
    assert '<a href="/help/measures">measures.md</a>' in page


def test_lenses_are_a_help_page(sign_in):
    page = sign_in("researcher").get("/help/lenses").content.decode()
    assert "<h1>Lenses</h1>" in page and '<h2 id="probe">PROBE</h2>' in page


def test_the_api_is_explained_to_whoever_can_have_a_token(sign_in):
    page = sign_in("annotator").get("/help/api").content.decode()
    assert "<h1>The API</h1>" in page and '<h2 id="label">Label</h2>' in page
    assert '<pre tabindex="0">' in page and "<pre>" not in page
    assert sign_in("stranger").get("/help/api")["Location"] == "/login?next=/help/api"
    assert sign_in("adjudicator").get("/help/lenses").status_code == 403


def test_unknown_help_page_is_404(sign_in):
    client = sign_in("manager")
    assert [client.get(f"/help/{page}").status_code for page in ("settings", "nothing")] == [404, 404]
