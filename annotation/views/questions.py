"""The question templates of a pool's relations: a list to edit with a live preview, their versions, and files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.forms.questions import TemplatesFileForm
from annotation.models import QuestionTemplate
from annotation.questions import review
from annotation.questions.reading import mark_read
from annotation.questions.review import missing_labels
from annotation.questions.templates import (
    Change,
    current_template,
    read_templates,
    save_changes,
    save_template,
    templates_tsv,
    texts_of,
)
from annotation.views import told
from core.errors import UserError
from core.forms import whole_number
from core.views.access import SignedInRequest, evaluator_required, manager_posts, manager_required
from core.views.files import text_response
from core.views.pagination import page_of
from pooling.models import Pool, Relation
from pooling.questions.relation_names import is_readable, relation_words
from pooling.questions.templates import TemplateError, TemplateText, check_template, fill
from pooling.views.find import find_pool

SIZE = 20
MAX_LENGTH = 500
FILTERS = {
    "name": "made from the name",
    "unread": "made from the name, and not read",
    "odd": "made from a name that is not a word",
    "written": "written",
}
ORDERS = {"triples": "most triples", "name": "by name"}


@dataclass(frozen=True)
class Card:
    """One relation in the list: its three texts, saved or typed, and how they read with real names."""

    relation: Relation
    template: QuestionTemplate  # the newest saved one
    triples: int
    texts: TemplateText
    names: Sequence[review.ExampleNames]
    offset: int = 0
    problem: str = ""

    @property
    def previews(self) -> list[TemplateText]:
        return [TemplateText(*(fill(text, *names) for text in self.texts)) for names in self.names]

    @property
    def can_be_read(self) -> bool:
        """Return whether a person can confirm the automatic questions; a name that is not a word must be replaced."""
        return self.template.is_unread and is_readable(self.relation.name)

    @property
    def next_offset(self) -> int:
        """Return the offset of the examples after these; 0 if there are no more."""
        return self.offset + 1 if self.triples > review.EXAMPLES else 0


@evaluator_required
@manager_posts
def questions(request: SignedInRequest, name: str) -> HttpResponse:
    """Show the list (?q= ?made= ?order= ?page= ?offset=), or one relation's preview.

    POST saves the questions of one relation, or with act=read notes that those of one relation, or of all, were read.
    """
    pool = find_pool(name)
    if request.GET.get("part") == "preview":
        card = _typed(pool, request.GET)
        return render(request, "annotation/questions/preview.html", {"pool": pool, "card": card})
    refused = None
    if request.POST.get("act") == "read":
        return _read(request, pool)
    if request.method == "POST":
        refused = _typed(pool, request.POST)
        if not refused.problem:
            return _save(request, pool, refused)
    asked = review.asked_relations(pool)
    query, made, order = (request.GET.get(key, "").strip() for key in ("q", "made", "order"))
    made, order = made if made in FILTERS else "", order if order in ORDERS else "triples"
    page = page_of(request, _selected(asked, query, made, order), SIZE)
    context = {
        "pool": pool,
        "page": page,
        "cards": _cards(pool, list(page), _offset(request.GET), refused),
        "refused": refused,
        "coverage": review.coverage(asked),
        "missing": len(missing_labels(pool)),
        "query": query,
        "made": made,
        "filters": FILTERS.items(),
        "order": order,
        "orders": ORDERS.items(),
        "kept": _kept(request.GET),
    }
    return render(request, "annotation/questions/list.html", context)


@evaluator_required
def history(request: SignedInRequest, name: str, index: int) -> HttpResponse:
    """Show every version of the questions of one relation, with what was asked under it."""
    pool = find_pool(name)
    relation = get_object_or_404(pool.graph.relations, index=index)
    current_template(relation)  # made now if nobody has looked yet
    triples = review.num_triples_asked(pool).get(index, 0)
    page = page_of(request, review.versions(pool, relation), SIZE)
    context = {"pool": pool, "relation": relation, "triples": triples, "page": page}
    return render(request, "annotation/questions/history.html", context)


def _kept(data: QueryDict) -> str:
    """Return the chosen filters as a query, so that saving or other examples come back to the same list."""
    kept = {key: data[key] for key in ("q", "made", "order", "page") if data.get(key)}
    return f"?{urlencode(kept)}" if kept else ""


def _offset(data: QueryDict) -> int:
    return whole_number(data.get("offset", ""), digits=6) or 0


def _selected(asked: list[review.AskedRelation], query: str, made: str, order: str) -> list[review.AskedRelation]:
    found = [one for one in asked if query.casefold() in _names(one.relation).casefold() and _is_made(one, made)]
    return sorted(found, key=lambda one: relation_words(one.relation.name)) if order == "name" else found


def _names(relation: Relation) -> str:
    return f"{relation_words(relation.name)}\n{relation.name}\n{relation.key}"


def _is_made(one: review.AskedRelation, made: str) -> bool:
    """Return whether the questions of the relation belong to a choice of FILTERS, '' for all."""
    if made in ("odd", "unread"):
        return one.is_odd if made == "odd" else one.is_unread
    return not made or one.template.is_default == (made == "name")


def _cards(pool: Pool, asked: list[review.AskedRelation], offset: int, refused: Card | None) -> list[Card]:
    names = review.examples(pool, {one.relation.index: one.triples for one in asked}, offset)
    cards = [
        Card(one.relation, one.template, one.triples, texts_of(one.template), names[one.relation.index], offset)
        for one in asked
    ]
    if refused is None:
        return cards
    others = [card for card in cards if card.relation != refused.relation]
    return [refused, *others]  # first, whatever the filter says: what was typed must not get lost


def _save(request: SignedInRequest, pool: Pool, card: Card) -> HttpResponse:
    try:
        saved = save_template(card.relation, *card.texts, request.user, pool=pool)
        messages.success(request, told.questions_saved(card.relation, saved.version))
    except TemplateError as error:
        messages.error(request, str(error))
    return redirect(_list_address(request, pool, card.relation))


def _read(request: SignedInRequest, pool: Pool) -> HttpResponse:
    """Note that a person has read the automatic questions of one relation, or of all if none is named."""
    relation = _relation(pool, request.POST) if request.POST.get("relation") else None
    try:
        messages.success(request, told.questions_read(mark_read(pool, request.user, relation)))
    except TemplateError as error:
        messages.error(request, str(error))
    return redirect(_list_address(request, pool, relation))


def _list_address(request: SignedInRequest, pool: Pool, relation: Relation | None) -> str:
    place = f"#r{relation.index}" if relation else ""
    return f"{reverse('pool-questions', args=[pool.name])}{_kept(request.GET)}{place}"


def _relation(pool: Pool, data: QueryDict) -> Relation:
    return get_object_or_404(pool.graph.relations, index=whole_number(data.get("relation", "")))


def _typed(pool: Pool, data: QueryDict) -> Card:
    """Return the card of what was typed for one relation, with what is wrong with it."""
    relation = _relation(pool, data)
    texts = TemplateText(*(data.get(field, "").strip()[: MAX_LENGTH + 1] for field in TemplateText._fields))
    triples = review.num_triples_asked(pool).get(relation.index, 0)
    offset = _offset(data)
    names = review.examples(pool, {relation.index: triples}, offset)[relation.index] if triples else []
    card = Card(relation, current_template(relation), triples, texts, names, offset)
    try:
        check_template(*texts)
    except TemplateError as error:
        return replace(card, problem=str(error))
    return card


SHOWN = 200


@evaluator_required
def questions_tsv(request: SignedInRequest, name: str) -> HttpResponse:
    """Send the templates of the relations that people are asked about, or with ?of=graph of all relations."""
    pool = find_pool(name)
    if request.GET.get("of") == "graph":
        return text_response(templates_tsv(pool.graph), f"{pool.graph.name}-relation_templates.tsv")
    return text_response(templates_tsv(pool.graph, pool), f"{pool.name}-relation_templates.tsv")


@manager_required
def import_questions(request: SignedInRequest, name: str) -> HttpResponse:
    """Read a file and show what it would change; then save that: the second form carries the text of the file."""
    pool = find_pool(name)
    form = TemplatesFileForm(request.POST, request.FILES) if request.method == "POST" else None
    changes = None
    if form is not None and form.is_valid():
        raw, file_name = form.cleaned_data["raw"], form.cleaned_data["file_name"] or "file"
        try:
            changes = read_templates(pool.graph, raw, file_name)
            if form.cleaned_data["file"] is None:
                count = save_changes(pool.graph, changes, by=request.user, pool=pool)
                messages.success(request, told.questions_imported(count))
                return redirect("pool-questions", name)
        except UserError as error:
            changes = None
            form.add_error("file", str(error))
    context = {"pool": pool, "form": form or TemplatesFileForm(), "changes": None, "shown": SHOWN}
    if changes is not None and form is not None:
        context |= {
            "changes": [(change.relation.key, _lines(change)) for change in changes[:SHOWN]],
            "num_changes": len(changes),
            "text": form.cleaned_data["raw"].decode("utf-8-sig"),
            "file_name": form.cleaned_data["file_name"],
        }
    return render(request, "annotation/questions/import.html", context)


def _lines(change: Change) -> list[tuple[str, str]]:
    """Return each text that changes, before and after."""
    pairs = zip(texts_of(change.newest), change.texts, strict=True)
    return [(before, after) for before, after in pairs if before != after]


@evaluator_required
def missing(request: SignedInRequest, name: str) -> HttpResponse:
    """List entities without a readable label; with ?as=tsv send all of them as a file."""
    pool = find_pool(name)
    rows = missing_labels(pool)
    if request.GET.get("as") == "tsv":
        lines = "".join(f"{row.key}\t{row.triples}\n" for row in rows)
        return text_response(lines, f"{pool.name}-missing-labels.tsv")
    context = {"pool": pool, "rows": rows[:SHOWN], "count": len(rows)}
    return render(request, "annotation/questions/labels.html", context)
