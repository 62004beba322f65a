import pytest

from annotation.domain.question import current_template, import_templates, save_template, wording
from annotation.models import QuestionTemplate
from pooling.domain.template import TemplateError


@pytest.fixture
def relation(graph):
    return graph.relations.get(key="lived_in")


def test_first_template_is_the_one_the_graph_came_with(relation) -> None:
    template = current_template(relation)
    assert (template.version, template.statement, template.is_default) == (
        1,
        "Has {subject} lived in {object}?",
        False,
    )
    assert current_template(relation) == template


def test_save_makes_a_new_version_and_keeps_the_old(relation) -> None:
    first = current_template(relation)
    new = save_template(
        relation,
        "Did {subject} live in {object}?",
        "Where did {subject} live?",
        "Who lived in {object}?",
        None,
    )
    assert (new.version, current_template(relation)) == (2, new)
    assert QuestionTemplate.objects.filter(pk=first.pk, version=1).exists()
    assert save_template(relation, new.statement, new.tail_question, new.head_question, None) == new


def test_save_refuses_a_tail_question_without_subject(relation) -> None:
    with pytest.raises(TemplateError, match=r"tail question has no \{subject\}"):
        save_template(relation, "Has {subject} {object}?", "Where?", "Who {object}?", None)
    assert QuestionTemplate.objects.count() == 0


def test_import_takes_the_whole_file_or_nothing(graph, relation, tmp_path) -> None:
    file = tmp_path / "t.tsv"
    file.write_text(
        "lived_in\tIs {subject} of {object}?\tOf what is {subject}?\tWhat is of {object}?\nnope\ta\tb\tc\n"
    )
    with pytest.raises(TemplateError, match=r"t.tsv:2: the graph does not have relation 'nope'"):
        import_templates(graph, file)
    assert QuestionTemplate.objects.count() == 0
    file.write_text(file.read_text().splitlines()[0] + "\n")
    assert import_templates(graph, file) == 1
    assert current_template(relation).statement == "Is {subject} of {object}?"
    assert import_templates(graph, file) == 0


def test_wording_fills_labels_and_asks_the_side_of_the_group(world) -> None:
    item = world.campaign.items.filter(side="tail").first()
    words = wording(item)
    assert words.statement == f"Has Person 1 lived in {words.object}?"
    assert words.group_question == "Where has Person 1 lived?"
    item = world.campaign.items.filter(side="head").first()
    assert wording(item).group_question == "Who has lived in City 7?"
