"""Read and write question templates as TSV: relation, statement, tail question, head question."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from annotation.enums import AnnotationAct
from annotation.models import QuestionTemplate
from annotation.questions.templates import ensure_templates, next_version, one_writer, texts_of
from core.people.audit_log import record
from pooling.enums import TO_PEOPLE
from pooling.models import Graph, Pool, Relation
from pooling.pools.files import read_tsv, several, tsv_lines
from pooling.questions.templates import TemplateError, TemplateText, check_template

Lines = Iterable[tuple[int, list[str]]]


class Change(NamedTuple):
    """What a file changes for one relation."""

    relation: Relation
    newest: QuestionTemplate
    texts: TemplateText


def templates_tsv(graph: Graph, pool: Pool | None = None) -> str:
    """Return the newest templates of all relations, or of those that the people of a pool are asked about.

    Texts are written unchanged, even if a spreadsheet takes them for a formula, so that the file can be read back.
    """
    ensure_templates(graph)
    relations = graph.relations.all()
    if pool is not None:
        asked = pool.triples.filter(reason=TO_PEOPLE).order_by().values("relation").distinct()
        relations = relations.filter(index__in=asked)
    newest = _newest(graph)
    keys = relations.order_by("index").values_list("pk", "key")
    return "".join("\t".join((key, *texts_of(newest[pk]))) + "\n" for pk, key in keys)


def read_templates(graph: Graph, lines: Lines, name: str) -> list[Change]:
    """Return what the lines of a file change; TemplateError names every bad line."""
    ensure_templates(graph)
    relations = {relation.key: relation for relation in graph.relations.all()}
    newest = _newest(graph)
    problems: list[str] = []
    rows: dict[str, TemplateText] = {}
    for number, fields in lines:
        problem = _line_problem(fields, relations, rows)
        if problem:
            problems.append(f"{name}:{number}: {problem}")
        else:
            rows[fields[0]] = TemplateText(*(text.strip() for text in fields[1:]))
    if problems:
        raise TemplateError(several(problems, "Correct the file; no question was changed."))
    changes = [Change(relations[key], newest[relations[key].pk], texts) for key, texts in rows.items()]
    return [change for change in changes if texts_of(change.newest) != change.texts]


def read_upload(graph: Graph, raw: bytes, name: str) -> list[Change]:
    """Return what an upload changes; PoolError if it is not UTF-8, TemplateError for bad lines."""
    return read_templates(graph, tsv_lines(raw, name), name)


def import_templates(graph: Graph, file: Path, by: User | None = None, *, pool: Pool | None = None) -> int:
    """Import a whole file or nothing; return how many relations changed. TemplateError for bad lines."""
    return save_changes(graph, read_templates(graph, read_tsv(file), file.name), by=by, pool=pool)


def save_changes(graph: Graph, changes: list[Change], *, by: User | None = None, pool: Pool | None = None) -> int:
    """Save new versions of all these relations or of none; TemplateError if somebody else was faster."""
    with one_writer(), transaction.atomic():
        QuestionTemplate.objects.bulk_create(
            [next_version(change.newest, change.texts, by) for change in changes], batch_size=500
        )
        if changes:
            about = f"{len(changes)} relations of graph {graph.name}"
            record(by, AnnotationAct.QUESTIONS_IMPORTED, pool=pool, about=about, n=len(changes))
    return len(changes)


def _newest(graph: Graph) -> dict[int, QuestionTemplate]:
    """Return relation id -> its newest template."""
    templates = QuestionTemplate.objects.filter(relation__graph=graph).order_by("version")
    return {template.relation_id: template for template in templates}


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
