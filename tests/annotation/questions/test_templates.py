import dataclasses

import pytest

from annotation.models import QuestionTemplate
from annotation.questions.templates import current_template, item_text, question_text, save_template
from core.models import AuditEntry
from pooling.graphs.opening import open_graph
from pooling.questions.templates import TemplateError


@pytest.fixture
def relation(graph):
    return graph.relations.get(key="lived_in")


def test_first_template_is_the_one_the_graph_came_with(relation) -> None:
    template = current_template(relation)
    assert (template.version, template.statement, template.is_default) == (1, "Has {subject} lived in {object}?", False)
    assert current_template(relation) == template


def test_save_makes_a_new_version_and_keeps_the_old(relation) -> None:
    first = current_template(relation)
    new = save_template(
        relation, "Did {subject} live in {object}?", "Where did {subject} live?", "Who lived in {object}?", None
    )
    assert (new.version, current_template(relation)) == (2, new)
    assert QuestionTemplate.objects.filter(pk=first.pk, version=1).exists()
    assert save_template(relation, new.statement, new.tail_question, new.head_question, None) == new


def test_save_refuses_a_tail_question_without_subject(relation) -> None:
    with pytest.raises(TemplateError, match=r"tail question has no \{subject\}"):
        save_template(relation, "Has {subject} {object}?", "Where?", "Who {object}?", None)
    assert QuestionTemplate.objects.count() == 0


def test_wording_fills_labels_and_asks_the_side_of_the_group(world) -> None:
    item = world.campaign.items.filter(side="tail").first()
    words = item_text(item)
    assert words.statement == f"Has Person 1 lived in {words.object}?"
    assert words.group_question == "Where has Person 1 lived?"
    item = world.campaign.items.filter(side="head").first()
    assert item_text(item).group_question == "Who has lived in City 7?"


def test_save_is_noted_with_person_and_pool(world) -> None:
    relation = world.pool.graph.relations.get()
    texts = ("Did {subject} live in {object}?", "Where did {subject} live?", "Who lived in {object}?")
    saved = save_template(relation, *texts, world.manager, pool=world.pool)
    assert (saved.created_by, saved.is_default) == (world.manager, False)
    save_template(relation, *texts, world.manager, pool=world.pool)
    entry = AuditEntry.objects.get(act="questions-saved")
    assert (entry.person, entry.pool, entry.about, entry.details) == (
        world.manager,
        world.pool,
        "lived_in",
        {"version": 2},
    )


def test_second_writer_of_a_version_is_told_and_nothing_of_theirs_is_kept(relation, monkeypatch) -> None:
    first = current_template(relation)
    save_template(relation, "{subject}, {object}?", "{subject}?", "{object}?")
    monkeypatch.setattr("annotation.questions.templates.current_template", lambda relation: first)
    with pytest.raises(TemplateError, match="Somebody else changed these questions a moment ago"):
        save_template(relation, "{object}, {subject}?", "{subject}?", "{object}?")
    assert QuestionTemplate.objects.count() == 2
    assert AuditEntry.objects.filter(act="questions-saved").count() == 1


@pytest.mark.parametrize(
    "label", ["{object}", "{subject} {object}", "{{ secret }}", "{% now 'Y' %}", "<b>&amp;", r"\1 \g<0>", "{", "%s"]
)
def test_label_that_looks_like_a_template_is_shown_as_it_is(world, label: str) -> None:
    item = world.campaign.items.filter(side="tail").first()
    graph = open_graph(world.pool.graph)
    labels = [label if entity == item.triple.head else name for entity, name in enumerate(graph.labels)]
    odd = dataclasses.replace(graph, labels=labels)
    words = question_text(item, current_template(world.pool.graph.relations.get()), odd)
    assert words.statement == f"Has {label} lived in {words.object}?"
    assert words.group_question == f"Where has {label} lived?"
    assert words.subject == label
