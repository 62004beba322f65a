"""The words in which people are asked: one template for each relation of a pool, with a live preview."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Min
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.domain.question import current_template, ensure_templates, save_template
from annotation.models import QuestionTemplate
from pooling.domain.graph import open_graph
from pooling.domain.template import TemplateError, check_template, fill
from pooling.enums import FilterReason
from pooling.models import Pool, PooledTriple, Relation
from pooling.permissions import can_manage, evaluator_required
from pooling.views.page import page_of

SIZE = 20
FIELDS = ("statement", "tail_question", "head_question")
MAX_LENGTH = 500


@dataclass(frozen=True)
class Texts:
    """The three texts of a relation as they are typed, and how they read for one pooled triple."""

    relation: Relation
    version: int
    is_default: bool
    statement: str
    tail_question: str
    head_question: str
    subject: str
    object: str
    problem: str = ""

    @property
    def preview(self) -> list[str]:
        return [fill(text, self.subject, self.object) for text in (self.statement, *self.group_questions)]

    @property
    def group_questions(self) -> tuple[str, str]:
        return self.tail_question, self.head_question


@evaluator_required
def questions(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    if request.GET.get("part") == "preview":
        context = {"texts": _typed(pool, request.GET), "edited": True}
        return render(request, "annotation/question_preview.html", context)
    refused = None
    if request.method == "POST":
        if not can_manage(request.user):
            raise PermissionDenied
        refused = _typed(pool, request.POST)
        if not refused.problem:
            return _save(request, pool, refused)
    ensure_templates(pool.graph)
    asked = pool.triples.filter(reason=FilterReason.NONE).values("relation")
    page = page_of(request, pool.graph.relations.filter(index__in=asked).order_by("index"), SIZE)
    rows = _current(pool, list(page))
    if refused is not None:
        rows = [refused if row.relation == refused.relation else row for row in rows]
    context = {"pool": pool, "page": page, "rows": rows, "refused": refused}
    return render(request, "annotation/question_list.html", context)


def _save(request: HttpRequest, pool: Pool, texts: Texts) -> HttpResponse:
    try:
        saved = save_template(
            texts.relation,
            texts.statement,
            texts.tail_question,
            texts.head_question,
            request.user,  # type: ignore[arg-type]
        )
        messages.success(request, f"Questions of {texts.relation.key} saved as version {saved.version}.")
    except TemplateError as error:
        messages.error(request, str(error))
    page = request.GET.get("page", "")
    query = f"?page={page}" if page.isdecimal() else ""
    return redirect(f"{reverse('pool-questions', args=[pool.name])}{query}#r{texts.relation.index}")


def _typed(pool: Pool, data: QueryDict) -> Texts:
    """What was typed for one relation, with what is wrong with it."""
    index = data.get("relation", "")
    if not index.isdecimal():
        raise Http404
    relation = get_object_or_404(pool.graph.relations, index=int(index))
    template = current_template(relation)
    statement, tail, head = (data.get(field, "").strip()[: MAX_LENGTH + 1] for field in FIELDS)
    try:
        check_template(statement, tail, head)
        problem = ""
    except TemplateError as error:
        problem = str(error)
    names = _examples(pool, [relation])
    return Texts(
        relation,
        template.version,
        template.is_default,
        statement,
        tail,
        head,
        *names[relation.index],
        problem,
    )


def _current(pool: Pool, relations: list[Relation]) -> list[Texts]:
    newest: dict[int, QuestionTemplate] = {
        template.relation_id: template
        for template in QuestionTemplate.objects.filter(relation__in=relations).order_by("version")
    }
    names = _examples(pool, relations)
    return [
        Texts(
            relation,
            newest[relation.pk].version,
            newest[relation.pk].is_default,
            newest[relation.pk].statement,
            newest[relation.pk].tail_question,
            newest[relation.pk].head_question,
            *names[relation.index],
        )
        for relation in relations
    ]


def _examples(pool: Pool, relations: list[Relation]) -> dict[int, tuple[str, str]]:
    """Names of head and tail of one triple to people for each relation."""
    indices = [relation.index for relation in relations]
    found = pool.triples.filter(reason=FilterReason.NONE, relation__in=indices).order_by()
    first = found.values("relation").annotate(first=Min("id")).values("first")
    graph = open_graph(pool.graph)
    triples = PooledTriple.objects.filter(pk__in=first).values_list("relation", "head", "tail")
    names = {relation: (graph.label(head), graph.label(tail)) for relation, head, tail in triples}
    return {index: names.get(index, ("SUBJECT", "OBJECT")) for index in indices}
