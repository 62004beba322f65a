"""The words of a question: templates of relations, versioned, and what a person reads of an item."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max

from annotation.models import Item, QuestionTemplate
from pooling.domain.graph import given_templates, open_graph
from pooling.domain.pool_files import read_tsv, several
from pooling.domain.template import TemplateError, check_template, default_template, fill
from pooling.enums import Side
from pooling.errors import UserError
from pooling.kernels.graph import GraphArrays
from pooling.models import Graph, Relation


class Wording(NamedTuple):
    statement: str
    group_question: str
    subject: str
    object: str
    subject_key: str
    object_key: str


def current_template(relation: Relation) -> QuestionTemplate:
    """The newest version; the first one is made from the graph's templates, or from the relation's name."""
    template = relation.templates.order_by("-version").first()
    if template is None:
        _make_first(relation.graph, [relation])
        template = relation.templates.order_by("-version")[0]
    return template


def templates_at(graph: Graph, when: datetime | None = None) -> dict[int, QuestionTemplate]:
    """Relation index -> its newest template, or the newest that there was at a time (the first, if all are later)."""
    ensure_templates(graph)
    found: dict[int, QuestionTemplate] = {}
    for template in (
        QuestionTemplate.objects.filter(relation__graph=graph).order_by("version").select_related("relation")
    ):
        if when is None or template.created_at <= when or template.relation.index not in found:
            found[template.relation.index] = template
    return found


def ensure_templates(graph: Graph) -> int:
    """Give every relation of the graph a first template; how many were made."""
    missing = list(graph.relations.filter(templates=None))
    _make_first(graph, missing)
    return len(missing)


def _make_first(graph: Graph, relations: Iterable[Relation]) -> None:
    given = given_templates(graph)
    QuestionTemplate.objects.bulk_create(
        (
            _template(relation, given[relation.index], is_default=False)
            if relation.index in given
            else _template(
                relation, default_template(relation.key, relation.domain, relation.range), is_default=True
            )
            for relation in relations
        ),
        ignore_conflicts=True,  # another process made the same first version
    )


def _template(relation: Relation, texts: tuple[str, str, str], *, is_default: bool) -> QuestionTemplate:
    statement, tail, head = texts
    return QuestionTemplate(
        relation=relation, version=1, statement=statement, tail_question=tail, head_question=head,
        is_default=is_default,
    )  # fmt: skip


def save_template(
    relation: Relation, statement: str, tail_question: str, head_question: str, user: User | None
) -> QuestionTemplate:
    """A new version, unless nothing changed. Raises TemplateError when the texts cannot be asked."""
    texts = (statement.strip(), tail_question.strip(), head_question.strip())
    check_template(*texts)
    newest = current_template(relation)
    if texts == (newest.statement, newest.tail_question, newest.head_question):
        return newest
    try:
        with transaction.atomic():
            return QuestionTemplate.objects.create(
                relation=relation, version=newest.version + 1, statement=texts[0], tail_question=texts[1],
                head_question=texts[2], created_by=user,
            )  # fmt: skip
    except IntegrityError as error:
        raise TemplateError(
            "Somebody else changed these questions a moment ago. Look at their version, then save again."
        ) from error


def import_templates(graph: Graph, file: Path, user: User | None = None) -> int:
    """TSV relation, statement, tail question, head question: all or nothing; how many relations changed."""
    relations = {relation.key: relation for relation in graph.relations.all()}
    problems: list[str] = []
    rows: dict[str, tuple[str, str, str]] = {}
    for number, fields in read_tsv(file):
        problem = _line_problem(fields, relations, rows)
        if problem:
            problems.append(f"{file.name}:{number}: {problem}")
        else:
            rows[fields[0]] = (fields[1], fields[2], fields[3])
    if problems:
        raise TemplateError(several(problems, "Correct the file; no question was changed."))
    before = _newest_versions(graph)
    with transaction.atomic():
        for key, texts in rows.items():
            save_template(relations[key], *texts, user)
    return sum(before.get(pk) != version for pk, version in _newest_versions(graph).items())


def _newest_versions(graph: Graph) -> dict[int, int]:
    return dict(graph.relations.values_list("pk").annotate(newest=Max("templates__version")))


def _line_problem(
    fields: list[str], relations: dict[str, Relation], rows: dict[str, tuple[str, str, str]]
) -> str:
    if len(fields) != 4:
        return f"has {len(fields)} columns where relation, statement, tail question, head question are 4"
    if fields[0] not in relations:
        return f"the graph does not have relation {fields[0]!r}"
    if fields[0] in rows:
        return f"repeats relation {fields[0]!r}"
    try:
        check_template(*(text.strip() for text in fields[1:]))
    except UserError as error:
        return str(error)
    return ""


def wording(item: Item, template: QuestionTemplate | None = None) -> Wording:
    """What a person reads of an item. `template`: the version that was or is to be shown, else the newest."""
    graph = item.campaign.pool.graph
    if template is None:
        template = current_template(Relation.objects.get(graph=graph, index=item.triple.relation))
    return word(item, template, open_graph(graph))


def word(item: Item, template: QuestionTemplate, graph: GraphArrays) -> Wording:
    head, tail = item.triple.head, item.triple.tail
    subject, object_ = graph.label(head), graph.label(tail)
    group = template.tail_question if item.side == Side.TAIL else template.head_question
    return Wording(
        fill(template.statement, subject, object_), fill(group, subject, object_), subject, object_,
        graph.entities[head], graph.entities[tail],
    )  # fmt: skip
