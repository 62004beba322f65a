"""Keep question templates of relations in versions, fill them with names, and read and write them as TSV."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F

from annotation.enums import AnnotationAct
from annotation.models import Campaign, Check, Item, QuestionTemplate
from core.people.audit_log import record
from pooling.enums import TO_PEOPLE, Side
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import given_templates, open_graph
from pooling.models import Graph, Pool, Relation
from pooling.pools.files import Problems, several, tsv_lines
from pooling.questions.default_templates import default_template
from pooling.questions.templates import TemplateError, TemplateText, check_template, fill


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
        QuestionTemplate.objects.filter(relation__graph=graph).order_by("version").select_related("relation", "read_by")
    ):
        if when is None or template.created_at <= when or template.relation.index not in found:
            found[template.relation.index] = template
    return found


def newest_of_graph(graph: Graph) -> dict[int, QuestionTemplate]:
    """Return relation id -> its newest template, of all relations of the graph."""
    return {template.relation_id: template for template in templates_at(graph).values()}


def ensure_templates(graph: Graph) -> int:
    """Give every relation of the graph a first template; return how many were made."""
    missing = list(graph.relations.filter(templates=None))
    _make_first(graph, missing)
    return len(missing)


def _make_first(graph: Graph, relations: Iterable[Relation]) -> None:
    given, first = given_templates(graph), []
    for relation in relations:
        texts = given.get(relation.index) or default_template(relation.name, relation.domain, relation.range)
        row = {"is_default": relation.index not in given, **texts._asdict()}
        first.append(QuestionTemplate(relation=relation, version=1, **row))
    # a conflict: another process made the same first version
    QuestionTemplate.objects.bulk_create(first, ignore_conflicts=True)


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
    names = graph.label(head), graph.label(tail)
    group = template.tail_question if item.side == Side.TAIL else template.head_question
    texts = fill(template.statement, *names), fill(group, *names)
    return QuestionText(*texts, *names, graph.entities[head], graph.entities[tail])


def newest_templates(campaign: Campaign, relations: Collection[int]) -> dict[int, QuestionTemplate]:
    """Return the current question template by relation index, in one query."""
    found = QuestionTemplate.objects.filter(
        relation__graph=campaign.pool.graph_id, relation__index__in=set(relations)
    ).annotate(index=F("relation__index"))
    return {template.index: template for template in found.order_by("version")}


def statements_now(campaign: Campaign, asked: Sequence[Item | Check]) -> list[str]:
    """Return each item or check as it is asked now, in one query."""
    graph = open_graph(campaign.pool.graph)
    templates = newest_templates(campaign, {one.triple.relation for one in asked})
    return [question_text(one, templates[one.triple.relation], graph).statement for one in asked]


# -- files: relation, statement, tail question, head question ----------------------------------------------------


class Change(NamedTuple):
    """What a file changes for one relation."""

    relation: Relation
    newest: QuestionTemplate
    texts: TemplateText


def templates_tsv(graph: Graph, pool: Pool | None = None) -> str:
    """Return the newest templates of all relations, or of those that the people of a pool are asked about.

    Texts are written unchanged, even if a spreadsheet takes them for a formula, so that the file can be read back.
    """
    relations = graph.relations.all()
    if pool is not None:
        asked = pool.triples.filter(reason=TO_PEOPLE).order_by().values("relation").distinct()
        relations = relations.filter(index__in=asked)
    newest = newest_of_graph(graph)
    keys = relations.order_by("index").values_list("pk", "key")
    return "".join("\t".join((key, *texts_of(newest[pk]))) + "\n" for pk, key in keys)


def read_templates(graph: Graph, raw: bytes, name: str) -> list[Change]:
    """Return what a file changes; LinesError if it is not UTF-8, TemplateError names every bad line."""
    relations = {relation.key: relation for relation in graph.relations.all()}
    newest = newest_of_graph(graph)
    problems = Problems()
    rows: dict[str, TemplateText] = {}
    for number, fields in tsv_lines(raw, name):
        problem = _line_problem(fields, relations, rows)
        if problem:
            problems.add(f"{name}:{number}: {problem}")
        else:
            rows[fields[0]] = TemplateText(*(text.strip() for text in fields[1:]))
    if problems:
        raise TemplateError(several(problems, "Correct the file; no question was changed."))
    if not rows:
        raise TemplateError(f"{name} has no line with questions of a relation; no question was changed.")
    changes = [Change(relations[key], newest[relations[key].pk], texts) for key, texts in rows.items()]
    return [change for change in changes if texts_of(change.newest) != change.texts]


def save_changes(graph: Graph, changes: list[Change], *, by: User | None = None, pool: Pool | None = None) -> int:
    """Save new versions of all these relations or of none; return how many. TemplateError if somebody was faster."""
    with one_writer(), transaction.atomic():
        QuestionTemplate.objects.bulk_create(
            [next_version(change.newest, change.texts, by) for change in changes], batch_size=500
        )
        if changes:
            about = f"{len(changes)} relations of graph {graph.name}"
            record(by, AnnotationAct.QUESTIONS_IMPORTED, pool=pool, about=about, n=len(changes))
    return len(changes)


def _line_problem(fields: list[str], relations: dict[str, Relation], rows: dict[str, TemplateText]) -> str:
    if len(fields) != 4:
        return f"has {len(fields)} columns where relation, statement, tail question, head question are 4"
    if fields[0] not in relations:
        return f"the graph does not have relation {fields[0]!r}"
    if fields[0] in rows:
        return f"repeats relation {fields[0]!r}"
    try:
        check_template(*(text.strip() for text in fields[1:]))
    except TemplateError as error:
        return str(error)
    return ""
