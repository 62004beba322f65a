"""Which sources are searched for a relation."""

from types import SimpleNamespace

import pytest

from annotation.models import Campaign, Source
from annotation.sources.topics import searched
from annotation.sources.verified import VerifiedSources, choose_sources, usual_sources, verified
from pooling.graphs.opening import open_graph

GENERAL = {"Wikipedia", "Wikidata", "Britannica"}
FILM = {"IMDb", "TMDB", "Rotten Tomatoes", "Box Office Mojo"}


def hosts_of(key: str, domain: str = "", range_: str = "", label: str = "") -> set[str]:
    """The names of the usual sources with a search that are offered for a relation of a graph."""
    graph = SimpleNamespace(relations=[key], domains=[domain], ranges=[range_], relation_name=lambda _: label or key)
    sources = VerifiedSources(tuple(usual_sources(Campaign())), {})
    return {one.name for one in searched(sources, graph, 0) if one.search_url}  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["cousinOf", "wifeOf", "/people/person/spouse_s./people/marriage/spouse", "lived_in"])
def test_family_has_general_sites_only(key: str) -> None:
    assert hosts_of(key, "person", "person") == GENERAL


@pytest.mark.parametrize(
    ("key", "more"),
    [
        ("/film/film/genre", FILM),
        ("/film/actor/film./film/performance/film", FILM),
        ("/tv/tv_program/program_creator", {"IMDb", "TMDB", "Rotten Tomatoes"}),
        ("directed_by", {"IMDb", "TMDB"}),
        ("/music/genre/artists", {"AllMusic", "MusicBrainz", "Discogs"}),
        ("/location/location/contains", {"GeoNames"}),
        ("/sports/sports_team/colors", {"ESPN"}),
        ("/american_football/football_team/current_roster./sports/sports_team_roster/position",
         {"ESPN", "Pro Football Reference"}),
        ("/soccer/football_team/current_roster./soccer/football_roster_position/position", {"ESPN"}),
        ("_hypernym", {"Wiktionary"}),
    ],
)  # fmt: skip
def test_a_topic_adds_its_sites(key: str, more: set[str]) -> None:
    assert hosts_of(key) == GENERAL | more


def test_domain_range_and_label_count_too() -> None:
    assert hosts_of("r7") == GENERAL
    assert hosts_of("r7", domain="film") == hosts_of("r7", range_="/film/film") == hosts_of("r7", label="cast of film")
    assert hosts_of("r7", domain="film") > GENERAL


def test_own_sources_and_chosen_ones_are_always_searched(world) -> None:
    """A site that a manager added has no topic; one that a manager chose for a relation is meant for it."""
    graph = open_graph(world.pool.graph)
    own = Source.objects.create(campaign=world.campaign, name="Parish", host="parish.org", search_url="")
    assert own in searched(verified(world.campaign), graph, 0)
    film = world.campaign.sources.get(host="imdb.com")
    assert film not in searched(verified(world.campaign), graph, 0)
    choose_sources(world.campaign, [0], [film.pk])
    assert searched(verified(world.campaign), graph, 0) == [film]
