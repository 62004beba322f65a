"""How many requests a minute a person may send to the API, by role."""

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from core.people.roles import CampaignRole, Person, site_roles

OPEN_RATE = "60/min"  # of an address that has not signed in: it can read the OpenAPI document alone


class ByPerson(SimpleRateThrottle):
    """Count the requests of each person, or of each of their tokens; settings.API_RATES has the rates."""

    scope = CampaignRole.ANNOTATOR.value

    def __init__(self) -> None:  # the rate is known when the person is
        pass

    def rate_of(self, person: Person) -> str:
        return str(settings.API_RATES[CampaignRole.ANNOTATOR])

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count the request in the time that the first one began; the cache counts, so that each of many at once does.

        The base keeps a list of times, which it reads, changes and writes back.
        """
        most, self.duration = self.parse_rate(self.rate_of(request.user))
        assert most is not None and self.duration is not None
        key = self.get_cache_key(request, view)
        self.end_key = f"{key}-end"
        if self.cache.add(key, 1, self.duration):
            self.cache.set(self.end_key, self.timer() + self.duration, self.duration)
            return True
        try:
            return self.cache.incr(key) <= most
        except ValueError:  # it ended a moment ago
            return True

    def wait(self) -> float:
        """Return in how many seconds the next request is allowed."""
        return max(self.cache.get(self.end_key, 0) - self.timer(), 1)

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        caller = getattr(request.auth, "pk", None) or (
            f"person-{request.user.pk}" if request.user.is_authenticated else f"at-{self.get_ident(request)}"
        )
        return self.cache_format % {"scope": "api", "ident": caller}


class ByRole(ByPerson):
    """Take the rate of the person's role of the site. The annotation page saves this query: nobody there has one."""

    def rate_of(self, person: Person) -> str:
        if not person.is_authenticated:
            return OPEN_RATE
        roles = site_roles(person)
        rates = (rate for role, rate in settings.API_RATES.items() if role in roles)
        return str(next(rates, super().rate_of(person)))
