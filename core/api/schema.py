"""Describe the API as an OpenAPI document in which every operation lists how it can fail."""

import re
from typing import Any, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

ERRORS = {
    "400": "The request cannot be read, or something in it is wrong: the words say what.",
    "401": "Nobody is signed in, or the token is unknown, expired or revoked.",
    "403": "The role of the person, or the scope of the token, does not allow it.",
    "404": "There is nothing here that the person can see.",
    "405": "The address has no such method.",
    "406": "The answer is JSON: ask for application/json.",
    "409": "It is not in a state for this now.",
    "413": "The request is too large.",
    "415": "The body is of another type than the endpoint takes.",
    "422": "The evidence that came with an answer is not of a verified source.",
    "429": "Too many requests: wait as long as Retry-After says.",
    "503": "Something on the server is in the way (a full disk, a damaged file): the words say what.",
}


class Problem(serializers.Serializer[Any]):
    error = serializers.CharField()
    fields = serializers.DictField(required=False, help_text="What is wrong with which field.")  # type: ignore[assignment]


class Operation(AutoSchema):
    def get_summary(self) -> str:
        return self._words()[0]

    def get_description(self) -> str:  # type: ignore[override]
        return self._words()[1]

    def _words(self) -> tuple[str, str]:
        """Return the first sentence of the view's docstring on this method ("GET … POST …"), and the rest."""
        said = " ".join(super().get_description().split())
        parts = re.split(r"(?:^|(?<=\. ))(GET|POST|PUT|DELETE)\b:? (?:\{[^}]*\}: )?", said)
        own = dict(zip(parts[1::2], parts[2::2], strict=True))[self.method].strip()
        first, _, more = own.partition(". ")
        return first[:1].upper() + first[1:].removesuffix("."), more

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        found: dict[str, Any] = super()._get_response_bodies(direction)
        for code, words in ERRORS.items():
            if code not in found:
                found[code] = {**self._get_response_for_code(Problem, code), "description": words}
        return found


class SessionScheme(OpenApiAuthenticationExtension):
    target_class = "core.api.auth.SignedIn"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "core.api.auth.Token"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        words = "A token tp_…, made on the page Account, API tokens. `Authorization: Token tp_…` is taken too."
        return {"type": "http", "scheme": "bearer", "description": words}
