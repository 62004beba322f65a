"""The training page, and the way there; what managers see of it."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from annotation.campaigns.lifecycle import set_rules
from annotation.models import Campaign, Training, TrainingQuestion
from annotation.quality.checks import gold_from_file, gold_from_pool
from annotation.views import told
from tests.annotation.api.calls import CLAIM, post
from tests.annotation.factories import World
from tests.page import read

URL, ANNOTATE = "/campaigns/p1/training", "/campaigns/p1/annotate"
SOURCE = "https://example.org/not-there"


@pytest.fixture
def training(world: World, tmp_path) -> Campaign:
    """Of a seed (yes), a triple filtered for its types (no), and one of a file (no); two correct answers pass."""
    gold_from_pool(world.campaign, positives=1, negatives=1)
    file = tmp_path / "gold.jsonl"
    line = {"head": "p1", "relation": "lived_in", "tail": "c1", "label": "N", "evidence": SOURCE}
    file.write_text(json.dumps(line | {"passage": "Never there."}) + "\n")
    gold_from_file(world.campaign, file)
    set_rules(world.campaign, training_items=3, training_percent=60)
    return world.campaign


def answer(client: Client, is_right: bool = True):
    """Answer the question that the page shows; return the page with the feedback."""
    form = read(client.get(URL)).one(class_="answers training-answers")
    pk = form.one(name="question").attrs["value"]
    known = TrainingQuestion.objects.get(pk=pk).gold.answer
    given = known if is_right else {"Y": "N", "N": "Y"}[known]
    return read(client.post(URL, {"question": pk, "answer": given}, follow=True))


def test_training_comes_first_and_leads_to_the_questions(world: World, training: Campaign, as_user):
    ann = as_user(world.ann)
    assert ann.get(ANNOTATE)["Location"] == URL
    assert read(ann.get("/")).one("training")
    assert read(ann.get(URL)).has("intro")
    ann.post(URL)
    seen = [answer(ann).one("told") for _ in range(2)]
    assert [one.attrs["data-right"] for one in seen] == ["yes", "yes"]
    assert answer(ann, is_right=False).one("told").attrs["data-right"] == "no"
    assert read(ann.get(URL)).has("done")
    assert ann.get(ANNOTATE).status_code == 200


def test_feedback_gives_the_source_of_the_known_answer(world: World, training: Campaign, as_user):
    ann = as_user(world.ann)
    ann.post(URL)
    seen = [answer(ann).one("told") for _ in range(3)]
    links = [[link.attrs["href"] for link in one.all(tag="a")] for one in seen]
    assert sorted(links) == [[], [], [SOURCE]]
    assert "Never there." in seen[links.index([SOURCE])].text


def test_who_misses_the_mark_and_has_no_other_questions_waits_for_a_manager(
    world: World, training: Campaign, as_user, manager
):
    ann = as_user(world.ann)
    ann.post(URL)
    for right in (True, False, False):
        answer(ann, right)
    page = read(ann.get(URL))
    assert page.has("missed") and page.has("stuck") and ann.get(ANNOTATE).status_code == 302
    checks = "/pools/p1/campaign/checks"
    assert read(manager.get("/pools/p1/campaign")).has("step", data_step="training")
    rows = [row for row in read(manager.get(checks)).all("trainee") if row.has("stuck")]
    assert [row.one(tag="th").text for row in rows] == ["ann"]
    done = manager.post(checks, {"act": "training", "person": world.ann.pk}, follow=True)
    assert read(done).messages == [told.let_through(world.ann)]
    assert Training.objects.get().let_through_by == world.manager
    assert ann.get(ANNOTATE).status_code == 200 and read(ann.get(URL)).has("done")


def test_a_script_is_given_no_question_before_the_training(world: World, training: Campaign, as_user):
    response = post(as_user(world.ann), CLAIM, {})
    assert (response.status_code, response.json()["training"]) == (403, URL)
    Campaign.objects.update(training_items=0)
    assert len(post(as_user(world.ann), CLAIM, {}).json()["items"]) > 0


def test_nothing_of_the_known_answer_is_on_the_page_before(world: World, training: Campaign, as_user):
    ann = as_user(world.ann)
    ann.post(URL)
    for _ in range(3):
        html = ann.get(URL).content.decode()
        assert SOURCE not in html and "Never there." not in html and "data-right" not in html
        assert not read(ann.get(f"{URL}?told=9")).has("told")
        answer(ann)
