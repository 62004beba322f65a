"""The pages Questions of a pool, and Question with the top candidates of every system."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from core.errors import UserError
from core.views.access import evaluator_required
from core.views.pagination import page_of
from evaluation.browse.pool_states import LEGEND, pool_states
from evaluation.browse.question import inspect_question, question_without_runs
from evaluation.browse.search import FIRST, find_questions, list_figures, question_rows
from evaluation.browse.tables import question_table
from evaluation.forms.search import QuestionSearchForm
from evaluation.views.csv_file import search_query, table_response
from pooling.runs.files import SIDES
from pooling.views.find import find_pool

PAGE = 25  # rows; the shares of all questions are below the list


@require_safe
@evaluator_required
def questions(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    states = pool_states(pool)
    form = QuestionSearchForm(states.contents, request.GET)
    found = list_figures(pool, states)
    page = page_of(request, find_questions(states, form.wanted(), found.spread), PAGE)
    context = {
        "pool": pool,
        "form": form,
        "page": page,
        "rows": question_rows(pool, states, page, found.spread),
        "lists": found,
        "first": FIRST,
        "legend": LEGEND,
        "num_questions": len(states.contents.keys),
    }
    return render(request, "evaluation/browse/question_list.html", context)


@require_safe
@evaluator_required
def questions_csv(request: HttpRequest, name: str) -> HttpResponse:
    """Send every question that the search finds, in its order."""
    pool = find_pool(name)
    states = pool_states(pool)
    wanted, spread = QuestionSearchForm(states.contents, request.GET).wanted(), list_figures(pool, states).spread
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
