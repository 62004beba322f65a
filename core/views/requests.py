"""The type of a request whose sender is signed in."""

from django.contrib.auth.models import User
from django.http import HttpRequest


class SignedInRequest(HttpRequest):
    """Annotate the request of a view that only accounts reach: LoginRequiredMiddleware or a decorator checked it.

    It is a type only: Django passes its own request.
    """

    user: User
