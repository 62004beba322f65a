"""Template texts: the rules, and filling without a second pass."""

import pytest

from pooling.questions.templates import TemplateError, check_template, fill

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


def test_fill_no_name_turns_round_the_rest_of_the_question():
    assert fill("Is {subject} \u202bin {object}?", "\u202ebb\u2066a", "שלום\u202c") == "Is bba in שלום?"


def test_fill_names_with_braces_stay_text():
    assert fill("{subject} or {object}", "{object}", "{subject}") == "{object} or {subject}"
    assert fill("{subject}, {subject}", r"\1 {x}", "") == r"\1 {x}, \1 {x}"
