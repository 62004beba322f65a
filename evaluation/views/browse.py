"""The pages Questions and Triples of a pool, two searches, and Question and Triple with all that is known of one."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from core.errors import UserError
from core.people.roles import can_manage
from core.views.access import evaluator_required, page_refusal, text_refusal
from core.views.pagination import page_of
from evaluation.browse.pool_states import LEGEND, PoolStates, pool_states
from evaluation.browse.question import inspect_question, question_without_runs
from evaluation.browse.search import (
    FIRST,
    ListFigures,
    find_questions,
    find_triples,
    list_figures,
    question_rows,
    triple_rows,
)
from evaluation.browse.tables import question_table, triple_table
from evaluation.browse.triple import imported_rows, inspect_triple, label_rows, questions_without_runs, triple_questions
from evaluation.forms.search import QuestionSearchForm, TripleSearchForm
from evaluation.labels.pool_table import EvaluationError
from evaluation.sections.settings import parse_settings
from evaluation.views.csv_file import search_query, table_response
from pooling.models import Pool
from pooling.runs.files import SIDES
from pooling.training.train import systems_with_runs
from pooling.views.find import find_pool

PAGE = 25  # rows; the shares of all questions are below the list


def chosen_systems(request: HttpRequest) -> tuple[str, ...]:
    """Return the systems that the address chooses; empty: all that were asked enough questions."""
    return parse_settings(request.GET, ("systems",)).systems


def compared_lists(request: HttpRequest, pool: Pool, states: PoolStates) -> ListFigures:
    """Return the summary of the lists of the systems that the address chooses."""
    return list_figures(pool, states, chosen_systems(request))


@require_safe
@evaluator_required
@page_refusal
def questions(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    states = pool_states(pool)
    form = QuestionSearchForm(states.contents, request.GET)
    found = compared_lists(request, pool, states)
    page = page_of(request, find_questions(states, form.wanted(), found.spread), PAGE)
    rows = question_rows(pool, states, page, found.spread)
    context = {"pool": pool, "form": form, "page": page, "rows": rows, "lists": found}
    context |= {"first": FIRST, "legend": LEGEND, "num_questions": len(states.contents.keys)}
    context |= {"compared_choices": [system.name for system in systems_with_runs(pool)]}
    context["settings"] = {"systems": chosen_systems(request)}
    return render(request, "evaluation/browse/question_list.html", context)


@require_safe
@evaluator_required
@text_refusal
def questions_csv(request: HttpRequest, name: str) -> HttpResponse:
    """Send every question that the search finds, in its order."""
    pool = find_pool(name)
    states = pool_states(pool)
    found = compared_lists(request, pool, states)
    if found.problem and chosen_systems(request):  # without runs, no spread; but an unknown system is an error
        raise EvaluationError(found.problem)
    wanted, spread = QuestionSearchForm(states.contents, request.GET).wanted(), found.spread
    rows = question_rows(pool, states, find_questions(states, wanted, spread), spread)
    return table_response(question_table(states, rows), [pool.name, "questions"], search_query(request))


@require_safe
@evaluator_required
def question(request: HttpRequest, name: str, side: str, relation: int, entity: int) -> HttpResponse:
    """Show the top candidates of every system for a question, side by side."""
    pool = find_pool(name)
    states = pool_states(pool)
    graph = states.contents.graph
    if side not in SIDES or relation >= graph.num_relations or entity >= graph.num_entities:
        raise Http404
    asked, problem = (pool, states, SIDES.index(side), relation, entity), ""
    try:
        detail = inspect_question(*asked)
    except UserError as error:
        detail, problem = question_without_runs(*asked), str(error)
    if detail is None:
        raise Http404
    context = {"pool": pool, "question": detail, "problem": problem, "legend": LEGEND, "first": FIRST}
    return render(request, "evaluation/browse/question.html", context)


@require_safe
@evaluator_required
def triples(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    states = pool_states(pool)
    form = TripleSearchForm(pool, states.contents, request.GET)
    page = page_of(request, find_triples(pool, states, form.wanted()))
    context = {"pool": pool, "form": form, "page": page, "rows": triple_rows(pool, states, page)}
    context |= {"legend": LEGEND, "num_triples": len(states.state)}
    return render(request, "evaluation/browse/triple_list.html", context)


@require_safe
@evaluator_required
def triples_csv(request: HttpRequest, name: str) -> HttpResponse:
    """Send every triple that the search finds, in its order."""
    pool = find_pool(name)
    states = pool_states(pool)
    wanted = TripleSearchForm(pool, states.contents, request.GET).wanted()
    rows = triple_rows(pool, states, find_triples(pool, states, wanted))
    return table_response(triple_table(states, rows), [pool.name, "triples"], search_query(request))


@require_safe
@evaluator_required
def triple(request: HttpRequest, name: str, head: int, relation: int, tail: int) -> HttpResponse:
    """Show a triple. Managers see who labelled it; researchers see numbers, and of what people typed only links."""
    pool = find_pool(name)
    states = pool_states(pool)
    graph = states.contents.graph
    if relation >= graph.num_relations or max(head, tail) >= graph.num_entities:
        raise Http404
    asked, names = (head, relation, tail), can_manage(request.user)
    detail, problem = inspect_triple(pool, states, asked), ""
    try:
        systems, questions = triple_questions(pool, states, asked)
    except UserError as error:
        systems, questions, problem = [], questions_without_runs(pool, states, asked), str(error)
    positions = [(system, [(one.positions[i], one.asked[i]) for one in questions]) for i, system in enumerate(systems)]
    context = {"pool": pool, "triple": detail, "questions": questions, "positions": positions, "problem": problem}
    context |= {"names": names, "labels": label_rows(detail, names), "imported": imported_rows(detail, names)}
    return render(request, "evaluation/browse/triple.html", context)
