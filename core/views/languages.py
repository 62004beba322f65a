"""Choose the language of the pages on which one labels, and serve the words of their scripts."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils import translation
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST
from django.views.i18n import JavaScriptCatalog, set_language

from core.people.languages import choose_language


@login_not_required
@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Keep a language, for the person who is signed in and in a cookie of this browser, and go back to the page."""
    code = request.POST.get("language", "")
    if code not in dict(settings.LANGUAGES):
        raise Http404
    if isinstance(request.user, User):
        choose_language(request.user, code)
    return set_language(request)


@login_not_required
@require_GET
@cache_control(max_age=60)
def words(request: HttpRequest, code: str) -> HttpResponseBase:
    """Send a script with `django.gettext` and the translations of the texts in our scripts."""
    if code not in dict(settings.LANGUAGES):
        raise Http404
    with translation.override(code):
        return JavaScriptCatalog.as_view(packages=["annotation"])(request)
