"""Tell which sources are worth a search for a relation: a film site for films only, an encyclopaedia for everything.

Links are accepted at every verified source all the same; only the searches that people see are fewer.
"""

import json
import re
from functools import cache

from django.conf import settings

from annotation.models import Source
from annotation.sources.verified import VerifiedSources
from pooling.graphs.kernels.graph_arrays import GraphArrays

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def searched(sources: VerifiedSources, graph: GraphArrays, relation: int) -> list[Source]:
    """Return the sources whose search is offered for a relation, in their order.

    Those that a manager chose for the relation all are. Otherwise a site about a topic (`topics` in
    fixtures/sources.json) is left out unless the relation's name, domain or range has a word of it.
    """
    if relation in sources.chosen:
        return [*sources.chosen[relation]]
    named = words_of(graph, relation)
    topics = _topics()
    return [one for one in sources.everywhere if not topics.get(one.host) or topics[one.host] & named]


def words_of(graph: GraphArrays, relation: int) -> set[str]:
    """Return the words of a relation's key, label, domain and range in lower case, and the parts of their paths.

    /american_football/football_team gives american, football, team, american_football and football_team.
    """
    texts = [graph.relations[relation], graph.relation_name(relation), graph.domains[relation], graph.ranges[relation]]
    parts = {part for text in texts for part in re.split(r"[/.#:\s]+", _CAMEL.sub("_", text).lower())}
    return parts | {word for part in parts for word in re.split(r"[\W_]+", part)}


@cache
def _topics() -> dict[str, frozenset[str]]:
    """Return host -> the words of its topic, for sources that are about one."""
    usual = json.loads((settings.BASE_DIR / "fixtures" / "sources.json").read_text(encoding="utf-8"))
    return {one["host"]: frozenset(one["topics"].split()) for one in usual if "topics" in one}
