"""Parts of the frame of every page: the search, the list of pools to switch to, and counts that ask for action."""

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.campaigns.notices import unseen
from annotation.campaigns.overview import open_reports
from annotation.enums import ItemState
from annotation.models import Campaign
from core.enums import LIVE
from core.models import Job
from core.people.roles import can_evaluate, can_manage
from core.views.access import SignedInRequest, evaluator_required, manager_required, no_store
from evaluation.browse.own_search import search_own
from evaluation.browse.site_search import search_site
from pooling.models import Pool
from pooling.views.find import find_pool

MOST_POOLS = 12  # in the list to switch to


@require_safe
def search(request: SignedInRequest) -> HttpResponse:
    """Show what the search finds (?q), in a dialog or as a page; ?pool is the pool that it was asked from.

    People who label find pages of their own only.
    """
    text = request.GET.get("q", "")[:200].replace("\0", "")
    context: dict[str, object] = {"q": text}
    if can_evaluate(request.user):
        name = request.GET.get("pool")
        pool = Pool.objects.select_related("graph").filter(name=name).first() if name else None
        context |= {"found": search_site(text, request.user, pool), "of": pool}
    else:
        context |= {"found": search_own(text, request.user)}
    return render(request, "core/search_results.html" if request.GET.get("part") else "core/search.html", context)


@require_safe
@evaluator_required
def switch(request: HttpRequest) -> HttpResponse:
    """List pools to switch to, those of the graph (?graph) first."""
    graph = request.GET.get("graph", "")
    pools = list(Pool.objects.select_related("graph").filter(archived=False).order_by("-created_at", "-pk")[:100])
    pools.sort(key=lambda pool: pool.graph.name != graph)
    return render(request, "components/pool_switch.html", {"pools": pools[:MOST_POOLS]})


@require_safe
@evaluator_required
def attention(request: SignedInRequest) -> HttpResponse:
    """Return the running jobs of the site, and for a manager how many notices are new."""
    return no_store(JsonResponse(_of_site(request.user)))


@require_safe
@manager_required
def pool_attention(request: SignedInRequest, name: str) -> HttpResponse:
    """Return counts that ask a manager for action: those of `attention`, reports and disputes of a pool."""
    counts = _of_site(request.user)
    if (campaign := Campaign.objects.filter(pool=find_pool(name)).first()) is not None:
        counts["inbox"] = open_reports(campaign).count()
        counts["disputes"] = campaign.items.filter(state=ItemState.DISPUTED).count()
    return no_store(JsonResponse(counts))


def _of_site(person: User) -> dict[str, int]:
    counts = {"jobs": Job.objects.filter(state__in=LIVE, parent=None).count()}
    return counts | {"notices": unseen(person)} if can_manage(person) else counts
