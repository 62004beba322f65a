"""Pages on which several forms, each with a hidden or button field `act`, post to one address."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.forms import BaseForm
from django.http import Http404, HttpRequest, QueryDict

from core.errors import UserError
from core.views.access import SignedInRequest

T = TypeVar("T")
QUEUED = "queued"  # tag of a message that goes away once the page shows that the work is over
# (what the page is about, the cleaned data of the act's form, who asks) -> what was done
Handler = Callable[[Any, dict[str, Any], User], T]


def posted(request: HttpRequest, act: str | None = None) -> QueryDict | None:
    """Return the data for a form, or None unless it was posted; with `act` only if that act was."""
    is_asked = request.method == "POST" and (act is None or request.POST.get("act") == act)
    return request.POST if is_asked else None


def attempt(form: BaseForm, do: Callable[[dict[str, Any]], T], field: str | None = None) -> T | None:
    """Return `do(form.cleaned_data)`; None, with the reason at the form, if the form or `do` refuses.

    `do` refuses by a UserError, shown at `field` or above the form, or by a ValidationError that names its fields.
    """
    if not form.is_valid():
        return None
    try:
        return do(form.cleaned_data)
    except UserError as error:
        form.add_error(field, str(error))
    except ValidationError as error:
        form.add_error(None, error)
    return None


def do_act(
    request: SignedInRequest,
    handlers: Mapping[str, Handler[T]],
    forms: Mapping[str, BaseForm],
    subject: Any = None,
    buttons: Mapping[str, BaseForm] | None = None,
) -> T | None:
    """Do the posted act to `subject` and return the handler's result; None if it was refused.

    A refusal is shown at the act's form. An act in `buttons`, whose form has nothing to correct, and an act without
    any form is refused by a message. Raise Http404 for an unknown act, and for a button with wrong values.
    """
    act = request.POST.get("act", "")
    if act not in handlers:
        raise Http404
    handler = handlers[act]
    if act in forms:
        return attempt(forms[act], lambda asked: handler(subject, asked, request.user))
    button = (buttons or {}).get(act)
    if button is not None and not button.is_valid():
        raise Http404
    return or_message(request, lambda: handler(subject, button.cleaned_data if button else {}, request.user))


def or_message(request: HttpRequest, do: Callable[[], T]) -> T | None:
    """Return `do()`; None, with the reason as a message, if it refuses by a UserError."""
    try:
        return do()
    except UserError as error:
        messages.error(request, str(error))
        return None


def tell_queued(request: HttpRequest, told: str) -> None:
    """Say that work was queued; the page drops the message when the part that shows the work says that it is over."""
    messages.info(request, told, extra_tags=QUEUED)
