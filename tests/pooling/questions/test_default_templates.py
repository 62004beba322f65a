"""Default questions: readable words for names of every style, and valid texts for any name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.questions.default_templates import default_template
from pooling.questions.relation_names import choices_in_words, is_readable, relation_words
from pooling.questions.templates import check_template


@pytest.mark.parametrize(
    ("key", "domain", "range_", "expected"),
    [
        (
            "/people/person/nationality",
            "/people/person",
            "/location/country",
            (
                "Is {object} a nationality of {subject}?",
                "Which country is the nationality of {subject}?",
                "Who has {object} as a nationality?",
            ),
        ),
        (
            "/film/film/release_date_s./film/film_regional_release_date/film_release_region",
            "/film/film",
            "/film/film_release_region",
            (
                "Is {object} a film release region of {subject} (release date)?",
                "What is the film release region of {subject} (release date)?",
                "Which film has {object} as a film release region (release date)?",
            ),
        ),
        (
            "/music/genre/artists",
            "/music/genre",
            "/music/artist",
            (
                "Is {object} one of the artists of {subject}?",
                "What are the artists of {subject}?",
                "Which genre has {object} among its artists?",
            ),
        ),
        (
            "_member_of_domain_usage",
            "",
            "",
            (
                "Is {object} a member of domain usage of {subject}?",
                "What is the member of domain usage of {subject}?",
                "What has {object} as a member of domain usage?",
            ),
        ),
        (
            "motherOf",
            "female",
            "person",
            ("Is {subject} a mother of {object}?", "Who is {subject} a mother of?", "Who is a mother of {object}?"),
        ),
        (
            "interacts_with",
            "",
            "",
            (
                "Does {subject} interact with {object}?",
                "What does {subject} interact with?",
                "What interacts with {object}?",
            ),
        ),
        (
            "film_story_by",
            "film",
            "writer",
            (
                "Is the film story of {subject} by {object}?",
                "Which writer is the film story of {subject} by?",
                "Which film has a film story by {object}?",
            ),
        ),
        (
            "term0",
            "",
            "",
            (
                "Does the relation “term0” lead from {subject} to {object}?",
                "Where does the relation “term0” lead from {subject}?",
                "From where does the relation “term0” lead to {object}?",
            ),
        ),
    ],
)
def test_default_template_reads_like_a_question(key, domain, range_, expected):
    assert default_template(key, domain, range_) == expected


@given(st.text(max_size=600), st.text(max_size=600), st.text(max_size=600))
def test_default_template_any_key_passes_the_check(key, domain, range_):
    check_template(*default_template(key, domain, range_))


@pytest.mark.parametrize("key", ["", "/", "./", "{subject}", "{}", "→", "is", "of", "has", "isa", "x" * 500, "_s"])
def test_default_template_odd_keys_pass_the_check(key):
    check_template(*default_template(key, key, key))


# names of FB15k-237, WN18RR, UMLS and Nations, as statement, tail question, head question
REAL = [
    (
        "/award/award_category/nominees./award/award_nomination/nominated_for",
        "Does {subject} have {object} as “nominated for” (nominees)?",
        "What does {subject} have as “nominated for” (nominees)?",
        "What has {object} as “nominated for” (nominees)?",
    ),
    (
        "/award/award_winner/awards_won./award/award_honor/award_winner",
        "Is {object} another award winner in the awards won of {subject}?",
        "What is another award winner in the awards won of {subject}?",
        "What has {object} as another award winner in their awards won?",
    ),
    (
        "/military/military_combatant/military_conflicts./military/military_combatant_group/combatants",
        "Is {object} one of the other combatants in the military conflicts of {subject}?",
        "What is one of the other combatants in the military conflicts of {subject}?",
        "What has {object} among the other combatants in their military conflicts?",
    ),
    (
        "/location/capital_of_administrative_division/capital_of./location/"
        "administrative_division_capital_relationship/administrative_division",
        "Is {object} an administrative division of {subject} (capital of)?",
        "What is the administrative division of {subject} (capital of)?",
        "What has {object} as an administrative division (capital of)?",
    ),
    (
        "/location/location/adjoin_s./location/adjoining_relationship/adjoins",
        "Does {subject} adjoin {object}?",
        "What does {subject} adjoin?",
        "What adjoins {object}?",
    ),
    (
        "/location/location/partially_contains",
        "Does {subject} partially contain {object}?",
        "What does {subject} partially contain?",
        "What partially contains {object}?",
    ),
    (
        "/people/ethnicity/languages_spoken",
        "Does {subject} have {object} among its languages spoken?",
        "What does {subject} have among its languages spoken?",
        "What has {object} among its languages spoken?",
    ),
    (
        "/base/culturalevent/event/entity_involved",
        "Does {subject} have {object} as entity involved?",
        "What does {subject} have as entity involved?",
        "What has {object} as entity involved?",
    ),
    (
        "/people/ethnicity/people",
        "Is {object} one of the people of {subject}?",
        "What are the people of {subject}?",
        "What has {object} among its people?",
    ),
    (
        "/medicine/disease/notable_people_with_this_condition",
        "Is {object} one of the notable people with this condition of {subject}?",
        "What are the notable people with this condition of {subject}?",
        "What has {object} among its notable people with this condition?",
    ),
    (
        "/film/film/music",
        "Is the music of {subject} by {object}?",
        "What is the music of {subject} by?",
        "What has music by {object}?",
    ),
    (
        "/film/film/produced_by",
        "Is {subject} produced by {object}?",
        "What is {subject} produced by?",
        "What is produced by {object}?",
    ),
    (
        "/tv/tv_writer/tv_programs./tv/tv_program_writer_relationship/tv_program",
        "Is {object} a TV program of {subject}?",
        "What is the TV program of {subject}?",
        "What has {object} as a TV program?",
    ),
    (
        "_hypernym",
        "Is {object} a hypernym of {subject}?",
        "What is the hypernym of {subject}?",
        "What has {object} as a hypernym?",
    ),
    (
        "_has_part",
        "Does {subject} have {object} as part?",
        "What does {subject} have as part?",
        "What has {object} as part?",
    ),
    (
        "_also_see",
        "Does {subject} have {object} as “also see”?",
        "What does {subject} have as “also see”?",
        "What has {object} as “also see”?",
    ),
    (
        "_similar_to",
        "Is {subject} similar to {object}?",
        "What is {subject} similar to?",
        "What is similar to {object}?",
    ),
    ("isa", "Is {subject} a kind of {object}?", "What is {subject} a kind of?", "What is a kind of {object}?"),
    (
        "issue_in",
        "Is {subject} an issue in {object}?",
        "What is {subject} an issue in?",
        "What is an issue in {object}?",
    ),
    (
        "co-occurs_with",
        "Does {subject} co-occur with {object}?",
        "What does {subject} co-occur with?",
        "What co-occurs with {object}?",
    ),
    (
        "treaties",
        "Is {object} one of the treaties of {subject}?",
        "What are the treaties of {subject}?",
        "What has {object} among its treaties?",
    ),
]


# names of YAGO, Hetionet and Wikidata, and FB15k-237 with its types
STATEMENTS = {
    "hasWonPrize": "Has {subject} won the prize {object}?",
    "wroteMusicFor": "Has {subject} written music for {object}?",
    "actedIn": "Has {subject} acted in {object}?",
    "edited": "Has {subject} edited {object}?",
    "edited_by": "Is {subject} edited by {object}?",
    "wasBornIn": "Was {subject} born in {object}?",
    "isCitizenOf": "Is {subject} a citizen of {object}?",
    "is_part_of": "Is {subject} part of {object}?",
    "related": "Is {subject} related to {object}?",
    "siblingOf": "Is {subject} a sibling of {object}?",
    "CAUSES": "Does {subject} cause {object}?",
    "DRUG_TARGET": "Is {object} a drug target of {subject}?",
    "http://schema.org/birthDate": "Is {object} the birth date of {subject}?",
    "/people/person/place_of_birth": "Is {object} the place of birth of {subject}?",
    "/location/us_county/county_seat": "Is {object} a county seat of {subject}?",
    "/people/cause_of_death/people": "Is {object} one of the people of {subject} (cause of death)?",
    "/location/statistical_region/places_exported_to./location/imports_and_exports/exported_to": (
        "Is {object} one of the “places exported to” of {subject}?"
    ),
    "member of political party": "Is {subject} a member of the political party {object}?",
    "located in the administrative entity": "Is {subject} located in the administrative entity {object}?",
    "languages spoken, written, or signed": (
        "Does {subject} have {object} among its languages spoken, written, or signed?"
    ),
    "shares border with": "Does {subject} share border with {object}?",
    "named after": "Is {subject} named after {object}?",
    "participant in": "Is {subject} a participant in {object}?",
    "home town": "Is {object} a home town of {subject}?",
    "world_cup_2010_winner": "Is {object} a world cup 2010 winner of {subject}?",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statement_of_names_of_each_style(name):
    domain = name.rpartition("/")[0] if name.startswith("/people/cause") else ""
    assert default_template(name, domain).statement == STATEMENTS[name]


def test_a_name_that_says_what_the_object_is_asks_for_it():
    assert default_template("member of political party")[1:] == (
        "Which political party is {subject} a member of?",
        "What is a member of the political party {object}?",
    )
    assert default_template("has_won_prize", "person")[1:] == (
        "Which prize has {subject} won?",
        "Who has won the prize {object}?",
    )
    assert default_template("place_of_birth", "person").head_question == "Who has {object} as their place of birth?"


@pytest.mark.parametrize(("key", "statement", "tail", "head"), REAL, ids=[row[0] for row in REAL])
def test_default_template_of_real_names(key, statement, tail, head):
    assert default_template(key) == (statement, tail, head)


def test_is_readable_where_the_name_is_words():
    words = ["/film/film/music", "_hypernym", "isa", "motherOf", "co-occurs_with", "größe", "出生地", "is_in", "DNA"]
    words += ["has_2_parts", "world_cup_2010_winner", "P31 (instance of)", "type"]
    odd = ["term0", "P31", "R12", "17", "→", "", "{}", "http://www.wikidata.org/prop/P31", "/m/01x", "wdt:P-31"]
    odd += ["rel_42", "relation 5", "type_1", "CbG", "r", "of", "e3b0c44298fc1c14", "deadbeef", "8c3a-11ee-be56"]
    assert [key for key in [*words, *odd] if is_readable(key)] == words


@pytest.mark.parametrize(
    ("range_", "which"),
    [
        ("/base/locations/countries", "Which country"),
        ("/olympics/olympic_games", "Which olympic games"),
        ("/base/petbreeds/city_with_dogs", "Which city with dogs"),
        ("/tv/tv_program", "Which TV program"),
        ("/people/person", "Who"),
        ("/type/object", "What"),
        ("", "What"),
    ],
)
def test_default_template_asks_for_one_of_the_type(range_, which):
    assert default_template("likes", "", range_).tail_question == f"{which} does {{subject}} like?"


def test_relation_is_called_by_its_label_or_by_the_words_of_its_key():
    names = ["female cousin of", "Actor / actress", "girlCousinOf", "/film/film/directed_by", "P131"]
    assert [relation_words(name) for name in names] == [*names[:2], "girl cousin of", "directed by", "P131"]


def test_choices_have_the_key_only_where_the_words_are_those_of_several():
    keys = ["/tv/program/language", "bornIn", "/film/film/language", "q"]
    named = [(index, "ally of" if key == "q" else key, key) for index, key in enumerate(keys)]
    assert choices_in_words(named) == [
        (3, "ally of"), (1, "born in"), (2, "language (/film/film/language)"), (0, "language (/tv/program/language)")
    ]  # fmt: skip
