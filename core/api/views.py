"""Serve the OpenAPI document, and the answer for addresses that do not exist."""

from threading import Lock
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import resolve
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.base import Endpoint
from core.enums import TokenScope

_WRITING = Lock()  # drf-spectacular looks for other libraries at its first call, and not for two threads at once


class Schema(Endpoint, SpectacularAPIView):
    """GET this document, as YAML or JSON. It says nothing of what is on the site, so everybody may read it."""

    permission_classes = [AllowAny]
    scopes = {"GET": tuple(TokenScope)}

    def allowed(self, person: Any) -> bool:
        return True

    def handle_exception(self, exc: Exception) -> Response:
        """Answer as JSON, in whatever form the document was asked for."""
        self.request.accepted_renderer = JSONRenderer()
        self.request.accepted_media_type = JSONRenderer.media_type
        return super().handle_exception(exc)

    def _get_schema_response(self, request: Request) -> Response:
        with _WRITING:
            return super()._get_schema_response(request)


@csrf_exempt  # the view that it calls says what it needs
@login_not_required
def with_slash(request: HttpRequest, path: str) -> HttpResponseBase:
    """Answer an address below /api/v1/ that ends with a slash as the one without it."""
    match = resolve(f"/api/v1/{path}")
    request.resolver_match = match
    return match.func(request, *match.args, **match.kwargs)


@extend_schema(exclude=True)
class Nothing(Endpoint):
    """Answer 404 to addresses below /api/v1/ that no endpoint has, in the words for an unknown name."""

    scopes = {method.upper(): tuple(TokenScope) for method in Endpoint.http_method_names}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise Http404

    def allowed(self, person: Any) -> bool:
        return True
