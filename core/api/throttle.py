"""How often a person may ask, by role."""

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from core.people.permissions import MANAGER, RESEARCHER, Person, site_roles

ANNOTATOR = "annotator"


class ByPerson(SimpleRateThrottle):
    """One count a person, or a token of theirs; settings.API_RATES has the rates."""

    scope = ANNOTATOR

    def __init__(self) -> None:  # the rate is known when the person is
        pass

    def rate_of(self, person: Person) -> str:
        return str(settings.API_RATES[ANNOTATOR])

    def allow_request(self, request: Request, view: APIView) -> bool:
        self.rate = self.rate_of(request.user)
        self.num_requests, self.duration = self.parse_rate(self.rate)
        return super().allow_request(request, view)

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        caller = getattr(request.auth, "pk", None) or f"person-{request.user.pk}"
        return self.cache_format % {"scope": "api", "ident": caller}


class ByRole(ByPerson):
    """The annotation page asks for no roles: its people have none that are of the whole site."""

    def rate_of(self, person: Person) -> str:
        roles = site_roles(person)
        role = next((role for role in (MANAGER, RESEARCHER) if role in roles), ANNOTATOR)
        return str(settings.API_RATES[role])
