"""What every form of a page refuses."""

import pytest
from django import forms

from core.forms import PageForm


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
