"""Template texts: the rules, the readable defaults, and filling without a second pass."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.domain.template import TemplateError, check_template, default_template, fill

GOOD = (
    "Is {subject} the mother of {object}?",
    "Whose mother is {subject}?",
    "Who is the mother of {object}?",
)


def refusal(statement=GOOD[0], tail_question=GOOD[1], head_question=GOOD[2]) -> str:
    with pytest.raises(TemplateError) as caught:
        check_template(statement, tail_question, head_question)
    return str(caught.value)


def test_check_template_good():
    check_template(*GOOD)
    check_template("{subject}{object}" + "x" * 483, *GOOD[1:])


def test_check_template_bad_says_what_and_what_to_do():
    assert refusal(statement="Is {subject} it?") == (
        "the statement has no {object}: put it where the name belongs"
    )
    assert refusal(tail_question="Who is it?") == (
        "the tail question has no {subject}: put it where the name belongs"
    )
    assert refusal(tail_question="Is {subject} {object}?") == (
        "the tail question contains {object}, which is what it asks for: take it out"
    )
    assert refusal(head_question="Is {object} {subject}?") == (
        "the head question contains {subject}, which is what it asks for: take it out"
    )
    braces = "has braces other than {subject} and {object}: take them out"
    assert refusal(statement="{subject} {object} {name}") == f"the statement {braces}"
    assert refusal(head_question="{{object}}") == f"the head question {braces}"
    assert refusal(statement="{subject}{object}" + "x" * 484) == (
        "the statement has 501 characters: shorten it to 500"
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
            (
                "Is {subject} a mother of {object}?",
                "Who is {subject} a mother of?",
                "Who is a mother of {object}?",
            ),
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


@pytest.mark.parametrize(
    "key", ["", "/", "./", "{subject}", "{}", "→", "is", "of", "has", "isa", "x" * 500, "_s"]
)
def test_default_template_odd_keys_pass_the_check(key):
    check_template(*default_template(key, key, key))
