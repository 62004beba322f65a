"""Recognise simulated people: accounts with their names, and without a password, so that nobody can sign in."""

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import User
from django.db.models import Q

NAME = "sim-annotator-"
ADJUDICATOR = "sim-adjudicator"


def simulated(to_user: str = "") -> Q:
    """Return the rows whose person is simulated; `to_user` is the lookup of the person, such as "annotator"."""
    user = f"{to_user}__" if to_user else ""
    named = Q(**{f"{user}username__startswith": NAME}) | Q(**{f"{user}username": ADJUDICATOR})
    return named & Q(**{f"{user}password__startswith": UNUSABLE_PASSWORD_PREFIX})


def is_simulated(person: User) -> bool:
    """Tell whether a person is simulated."""
    named = person.username.startswith(NAME) or person.username == ADJUDICATOR
    return named and person.password.startswith(UNUSABLE_PASSWORD_PREFIX)
