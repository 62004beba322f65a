"""What every form of a page refuses."""

import pytest
from django import forms

from core.forms import PageForm, whole_number


class NumbersForm(PageForm):
    whole = forms.IntegerField(required=False)
    real = forms.FloatField(required=False)
    text = forms.CharField(required=False)


@pytest.mark.parametrize("typed", ["1_0", "1_000", "0_1"])
def test_a_number_with_an_underscore_is_refused(typed: str) -> None:
    form = NumbersForm({"whole": typed, "real": typed, "text": typed})
    assert {name: [one.code for one in errors.as_data()] for name, errors in form.errors.items()} == {
        "whole": ["invalid"],
        "real": ["invalid"],
    }
    assert form.cleaned_data == {"text": typed}
    assert NumbersForm({"whole": "10", "real": "1e3"}).is_valid()


def test_a_word_is_refused_once() -> None:
    assert {name: len(errors) for name, errors in NumbersForm({"whole": "a_b"}).errors.items()} == {"whole": 1}


@pytest.mark.parametrize("sent", ["", "x", "-1", "+1", " 1", "1_0", "1.0", "٣", "²", "9" * 19, "9" * 5000])
def test_what_no_id_can_be_is_no_number(sent: str) -> None:
    assert whole_number(sent) is None


def test_ids_are_numbers_of_at_most_18_digits() -> None:
    assert (whole_number("0"), whole_number("07"), whole_number("9" * 18)) == (0, 7, 10**18 - 1)
    assert (whole_number("999999", 6), whole_number("1000000", 6)) == (999_999, None)
