"""Pages on which several forms post to one address."""

from __future__ import annotations

from typing import Any

import pytest
from django import forms
from django.contrib.auth.models import User
from django.contrib.messages.storage.base import BaseStorage
from django.core.exceptions import ValidationError
from django.http import Http404
from django.test import RequestFactory

from core.errors import UserError
from core.views.acts import attempt, do_act, posted


class Kept(BaseStorage):
    """Messages of one request, kept in memory."""

    def _get(self, *args: Any, **kwargs: Any) -> tuple[list[Any], bool]:
        return [], True

    def _store(self, *args: Any, **kwargs: Any) -> list[Any]:
        return []


class SizeForm(forms.Form):
    size = forms.IntegerField(max_value=9)


def post(**data: str) -> Any:
    request: Any = RequestFactory().post("/", data)
    request.user = User(username="ada")
    request._messages = Kept(request)
    return request


def grow(subject: str, asked: dict[str, Any], by: User) -> str:
    if asked["size"] == 7:
        raise UserError("not seven\nnor any like it")
    if asked["size"] == 8:
        raise ValidationError({"size": "not eight"})
    return f"{by.username} grew {subject} by {asked['size']}"


def shrink(subject: str, asked: dict[str, Any], by: User) -> str:
    if subject == "p":
        raise UserError("p is small")
    return f"shrunk {subject} {asked}"


ACTS = {"grow": grow, "shrink": shrink}


def asked(**data: str) -> tuple[str | None, SizeForm, list[str]]:
    request = post(**data)
    form = SizeForm(posted(request, "grow"))
    buttons = {"shrink": SizeForm(posted(request, "shrink"))} if "button" in data else None
    told = do_act(request, ACTS, {"grow": form}, data.get("of", "p"), buttons)
    return told, form, [str(message) for message in request._messages._queued_messages]


def test_posted_is_none_unless_that_act_was_posted():
    assert posted(post(act="grow"), "grow") == {"act": ["grow"]}
    assert posted(post(act="grow"), "shrink") is None
    assert posted(post(size="2")) == {"size": ["2"]}
    assert posted(RequestFactory().get("/?act=grow"), "grow") is None
    assert posted(RequestFactory().get("/")) is None


def test_act_is_done_to_the_subject_by_the_person():
    assert asked(act="grow", size="2")[0] == "ada grew p by 2"


def test_act_without_a_form_needs_none():
    assert asked(act="shrink", of="q")[0] == "shrunk q {}"


def test_button_gives_what_its_form_holds_and_with_wrong_values_is_404():
    assert asked(act="shrink", of="q", button="1", size="3")[0] == "shrunk q {'size': 3}"
    with pytest.raises(Http404):
        asked(act="shrink", of="q", button="1", size="10")


@pytest.mark.parametrize("button", [{}, {"button": "1", "size": "3"}])
def test_refusal_of_an_act_without_a_form_to_correct_is_a_message(button: dict[str, str]):
    told, form, said = asked(act="shrink", **button)
    assert (told, said) == (None, ["p is small"])
    assert not form.is_bound


@pytest.mark.parametrize("act", ["", "melt"])
def test_unknown_act_is_404(act: str):
    with pytest.raises(Http404):
        asked(act=act)


def test_invalid_form_does_nothing_and_says_why():
    told, form, said = asked(act="grow", size="10")
    assert (told, said) == (None, [])
    assert form.errors == {"size": ["Ensure this value is less than or equal to 9."]}


def test_refusal_is_shown_at_the_form():
    told, form, said = asked(act="grow", size="7")
    assert (told, said) == (None, [])
    assert form.errors == {"__all__": ["not seven\nnor any like it"]}


def test_refusal_that_names_its_field_is_shown_there():
    assert asked(act="grow", size="8")[1].errors == {"size": ["not eight"]}


def test_attempt_shows_a_refusal_at_the_field_that_it_is_given():
    form = SizeForm({"size": "7"})
    assert attempt(form, lambda data: grow("p", data, User()), "size") is None
    assert form.errors == {"size": ["not seven\nnor any like it"]}
