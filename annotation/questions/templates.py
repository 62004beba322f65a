"""Keep question templates of relations in versions, and fill them with names."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.enums import AnnotationAct
from annotation.models import Check, Item, QuestionTemplate
from core.people.audit_log import record
from pooling.enums import Side
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import given_templates, open_graph
from pooling.models import Graph, Pool, Relation
from pooling.questions.templates import TemplateError, TemplateText, check_template, default_template, fill


class QuestionText(NamedTuple):
    statement: str
    group_question: str
    subject: str
    object: str
    subject_key: str
    object_key: str


def current_template(relation: Relation) -> QuestionTemplate:
    """Return the newest version; the first is made from the graph's templates, or from the relation's name."""
    template = relation.templates.order_by("-version").first()
    if template is None:
        _make_first(relation.graph, [relation])
        template = relation.templates.order_by("-version")[0]
    return template


def templates_at(graph: Graph, when: datetime | None = None) -> dict[int, QuestionTemplate]:
    """Return relation index -> newest template now or at a time (the first version, if all are later)."""
    ensure_templates(graph)
    found: dict[int, QuestionTemplate] = {}
    for template in (
        QuestionTemplate.objects.filter(relation__graph=graph).order_by("version").select_related("relation")
    ):
        if when is None or template.created_at <= when or template.relation.index not in found:
            found[template.relation.index] = template
    return found


def ensure_templates(graph: Graph) -> int:
    """Give every relation of the graph a first template; return how many were made."""
    missing = list(graph.relations.filter(templates=None))
    _make_first(graph, missing)
    return len(missing)


def _make_first(graph: Graph, relations: Iterable[Relation]) -> None:
    given = given_templates(graph)
    QuestionTemplate.objects.bulk_create(
        (
            _template(relation, given[relation.index], is_default=False)
            if relation.index in given
            else _template(relation, default_template(relation.key, relation.domain, relation.range), is_default=True)
            for relation in relations
        ),
        ignore_conflicts=True,  # another process made the same first version
    )


def _template(relation: Relation, texts: tuple[str, str, str], *, is_default: bool) -> QuestionTemplate:
    statement, tail, head = texts
    return QuestionTemplate(
        relation=relation, version=1, statement=statement, tail_question=tail, head_question=head, is_default=is_default
    )


def save_template(
    relation: Relation,
    statement: str,
    tail_question: str,
    head_question: str,
    by: User | None = None,
    *,
    pool: Pool | None = None,
) -> QuestionTemplate:
    """Save a new version and return it, or the newest one if nothing changed.

    `pool`: where it was done, for the audit log; the questions belong to the graph. Raises TemplateError if the texts
    cannot be asked.
    """
    texts = TemplateText(statement.strip(), tail_question.strip(), head_question.strip())
    check_template(*texts)
    newest = current_template(relation)
    if texts == texts_of(newest):
        return newest
    with one_writer(), transaction.atomic():
        saved = next_version(newest, texts, by)
        saved.save()
        record(by, AnnotationAct.QUESTIONS_SAVED, pool=pool, about=relation.key, version=saved.version)
    return saved


def texts_of(template: QuestionTemplate) -> TemplateText:
    return TemplateText(template.statement, template.tail_question, template.head_question)


def next_version(newest: QuestionTemplate, texts: TemplateText, by: User | None) -> QuestionTemplate:
    """Return the unsaved row that follows the newest version of a relation."""
    return QuestionTemplate(
        relation_id=newest.relation_id, version=newest.version + 1, created_by=by, **texts._asdict()
    )


@contextmanager
def one_writer() -> Iterator[None]:
    """Raise TemplateError if somebody else saved a version with the same number first; nothing is then kept."""
    try:
        yield
    except IntegrityError as error:
        raise TemplateError(
            "Somebody else changed these questions a moment ago. Look at their version, then save again."
        ) from error


def item_text(item: Item, template: QuestionTemplate | None = None) -> QuestionText:
    """Return what a person reads of an item, in the words of a template or of the newest one."""
    graph = item.campaign.pool.graph
    if template is None:
        template = current_template(Relation.objects.get(graph=graph, index=item.triple.relation))
    return question_text(item, template, open_graph(graph))


def question_text(item: Item | Check, template: QuestionTemplate, graph: GraphArrays) -> QuestionText:
    """Return what a person reads of an item or check."""
    head, tail = item.triple.head, item.triple.tail
    subject, object_ = graph.label(head), graph.label(tail)
    group = template.tail_question if item.side == Side.TAIL else template.head_question
    return QuestionText(
        fill(template.statement, subject, object_),
        fill(group, subject, object_),
        subject,
        object_,
        graph.entities[head],
        graph.entities[tail],
    )
