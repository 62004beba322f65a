"""Template texts: the rules, the readable defaults, and filling without a second pass."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.questions.templates import TemplateError, check_template, default_template, fill, is_readable

GOOD = ("Is {subject} the mother of {object}?", "Whose mother is {subject}?", "Who is the mother of {object}?")


def refusal(statement=GOOD[0], tail_question=GOOD[1], head_question=GOOD[2]) -> str:
    with pytest.raises(TemplateError) as caught:
        check_template(statement, tail_question, head_question)
    return str(caught.value)


def test_check_template_good():
    check_template(*GOOD)
    check_template("{subject}{object}" + "x" * 483, *GOOD[1:])


def test_check_template_bad_says_what_and_what_to_do():
    assert refusal(statement="Is {subject} it?") == ("the statement has no {object}: put it where the name belongs")
    assert refusal(tail_question="Who is it?") == ("the tail question has no {subject}: put it where the name belongs")
    assert refusal(tail_question="Is {subject} {object}?") == (
        "the tail question contains {object}, which is what it asks for: take it out"
    )
    assert refusal(head_question="Is {object} {subject}?") == (
        "the head question contains {subject}, which is what it asks for: take it out"
    )
    braces = "has braces other than {subject} and {object}: take them out"
    assert refusal(statement="{subject} {object} {name}") == f"the statement {braces}"
    assert refusal(head_question="{{object}}") == f"the head question {braces}"
    assert refusal(statement="{subject}{object}" + "x" * 484) == ("the statement has 501 characters: shorten it to 500")
    for character in ("\t", "\n", "\r", "\x00", "\u2028"):
        assert refusal(statement=f"{{subject}}{character}{{object}}") == (
            "the statement has a tab, a line break or another control character: take it out"
        )
    assert refusal(statement=" ", tail_question="") == (
        "the statement is empty: write one; the tail question is empty: write one"
    )


def test_fill_names_with_braces_stay_text():
    assert fill("{subject} or {object}", "{object}", "{subject}") == "{object} or {subject}"
    assert fill("{subject}, {subject}", r"\1 {x}", "") == r"\1 {x}, \1 {x}"


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


@pytest.mark.parametrize(("key", "statement", "tail", "head"), REAL, ids=[row[0] for row in REAL])
def test_default_template_of_real_names(key, statement, tail, head):
    assert default_template(key) == (statement, tail, head)


def test_is_readable_where_the_name_is_words():
    words = ["/film/film/music", "_hypernym", "isa", "motherOf", "co-occurs_with", "größe"]
    odd = ["term0", "P31", "17", "→", "", "{}", "http://www.wikidata.org/prop/P31"]
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
