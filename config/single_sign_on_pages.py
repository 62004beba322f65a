"""The addresses of single sign-on: they lead to the provider and take its answer, by allauth.

allauth speaks the protocols. Who is let in, and as whom, is decided here and in annotation/people/single_sign_on.py:
its own pages, sign-up and matching of accounts are never reached.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import requests
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.socialaccount.providers.base import ProviderException
from allauth.socialaccount.providers.base.constants import AuthError
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.sessions.backends.base import UpdateError
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect, resolve_url
from django.urls import path
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from annotation.errors import PersonError
from annotation.people.single_sign_on import check_subject, person_of
from config.provider_answers import IS_AWAY, Limited
from config.sign_in import address_of
from config.single_sign_on import OIDC, SAML

logger = logging.getLogger(__name__)
View = Callable[..., HttpResponseBase]
MOST_A_MINUTE = 60  # requests from one address: a class behind one address signs in with two each
KELVIN = "\u212a"
TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
ISSUERS = {provider.key: provider.issuer for provider in settings.SINGLE_SIGN_ON.providers}

for _model in (EmailAddress, SocialAccount, SocialApp, SocialToken):  # its tables are not used
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)


def cancelled() -> str:
    return gettext("You did not sign in. Try again, or ask a manager.")


def failed() -> str:
    return gettext("Signing in failed at the provider. Try again; if it fails again, ask a manager.")


def too_many() -> str:
    return gettext("Too many people sign in from your network at this moment. Try again in a minute.")


def no_lasting_name() -> str:
    return gettext("Your provider names you differently each time, so your account cannot be found. Ask a manager.")


def _refused(request: HttpRequest, why: str) -> HttpResponse:
    messages.error(request, why)
    return redirect("login")


class Adapter(DefaultSocialAccountAdapter):
    """Stop allauth once it knows who the person is, or that it does not."""

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        raise ImmediateHttpResponse(_sign_in(request, sociallogin))

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, extra_context: Any = None
    ) -> None:
        why = cancelled() if error == AuthError.CANCELLED else failed()
        logger.warning("single sign-on failed: %s", type(exception).__name__ if exception else error)
        raise ImmediateHttpResponse(_refused(request, why))

    def get_requests_session(self) -> requests.Session:
        """Return a session that takes small answers, by https only unless the provider is on this machine."""
        session: requests.Session = super().get_requests_session()
        session.trust_env = False  # no .netrc
        session.max_redirects = 3  # each has its time
        session.adapters.clear()
        for scheme in ("https://", "http://") if ISSUERS.get(OIDC, "").startswith("http://") else ("https://",):
            session.mount(scheme, Limited())
        return session


def _sign_in(request: HttpRequest, sociallogin: Any) -> HttpResponse:
    account, trusts = sociallogin.account, settings.SINGLE_SIGN_ON.trusts_addresses
    key = OIDC if account.provider == OIDC else SAML
    email = next((one.email for one in sociallogin.email_addresses if one.verified or trusts), "")
    if KELVIN in str(account.extra_data):  # allauth made it a k, but it is another mailbox
        email = ""
    name = sociallogin.user.get_username()
    try:
        user = person_of(ISSUERS[key], account.uid, email=email, name=name, role=settings.SINGLE_SIGN_ON.role)
    except PersonError as error:
        return _refused(request, str(error))
    if request.user.is_authenticated and request.user.pk != user.pk:
        request.session.flush()
    login(request, user, backend=settings.AUTHENTICATION_BACKENDS[-1])
    wanted = sociallogin.state.get("next") or ""
    safe = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    # by no name of a page, as `redirect` would take it
    return HttpResponseRedirect(wanted if safe else resolve_url(settings.LOGIN_REDIRECT_URL))


class Oidc(OpenIDConnectOAuth2Adapter):
    """OpenID Connect as its specification has it: the id token is required, and always checked."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request, OIDC)

    @property
    def openid_config(self) -> dict[str, Any]:
        found: dict[str, Any] = super().openid_config
        if str(found["issuer"]).rstrip("/") != ISSUERS[OIDC]:
            raise OAuth2Error("The configuration is that of another issuer.")
        return found

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> Any:
        claims = self._decode_id_token(app, kwargs["response"].get("id_token") or "")
        check_subject(claims["sub"])
        data: dict[str, Any] = {"id_token": claims}
        if "userinfo_endpoint" in self.openid_config:
            data["userinfo"] = self._fetch_user_info(token.token)
            if data["userinfo"].get("sub") != claims["sub"]:
                raise OAuth2Error("The user info is that of somebody else.")
        return self.get_provider().sociallogin_from_response(request, data)

    def _decode_id_token(self, app: Any, id_token: str) -> dict[str, Any]:
        config = self.openid_config
        claims: dict[str, Any] = jwtkit.verify_and_decode(
            credential=id_token,
            keys_url=config["jwks_uri"],
            issuer=config["issuer"],
            audience=app.client_id,
            lookup_kid=jwtkit.lookup_kid_jwk,
        )
        return claims


# what comes of an answer that says nothing, or something else than it should: allauth checks little
_OF_PROVIDERS = (
    requests.RequestException, OAuth2Error, ProviderException,
    ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError,
    PermissionDenied,  # allauth: an answer to a request that this browser did not send, or not lately
)  # fmt: skip
_one_that_asks = threading.Lock()  # while the provider is away: the others would wait for it and hold up the site


def _provider_page(view: View, *, counts: bool = True) -> View:
    """Return a page that anybody may open; what a provider does wrong is told on the page to sign in."""

    def page(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if counts and _comes_too_often(request):
            return _refused(request, too_many())
        alone = IS_AWAY.is_set()
        if alone and not _one_that_asks.acquire(blocking=False):
            return _refused(request, failed())
        try:
            return view(request, **kwargs)
        except PersonError as error:
            return _refused(request, str(error))
        except UpdateError:  # the session ended meanwhile, as when an answer is sent twice: it is not saved again
            request.session = type(request.session)(request.session.session_key)
            return _refused(request, failed())
        except _OF_PROVIDERS as error:
            logger.warning("single sign-on failed: %s", type(error).__name__)
            return _refused(request, failed())
        finally:
            if alone:
                _one_that_asks.release()

    page.__name__ = view.__name__
    return login_not_required(page)


def _comes_too_often(request: HttpRequest) -> bool:
    """Count a request of an address: each one may leave a session behind."""
    key = f"sso-{address_of(request)}-{int(time.time() // 60)}"
    cache.add(key, 0, timeout=120)
    try:
        return cache.incr(key) > MOST_A_MINUTE
    except ValueError:  # the cache was emptied just now
        return False


def _only_next(request: HttpRequest) -> None:
    """Drop what else allauth would take from the address, such as to connect an account."""
    given = request.GET.copy()
    for name in set(given) - {"next"}:
        del given[name]
    request.GET = given  # type: ignore[assignment]  # immutable again below
    given._mutable = False


@_provider_page
@require_safe
def oidc_login(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    _only_next(request)
    response: HttpResponseBase = OAuth2LoginView.adapter_view(Oidc(request))(request)
    return response


@_provider_page
@require_safe
def oidc_callback(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    response: HttpResponseBase = OAuth2CallbackView.adapter_view(Oidc(request))(request)
    return response


@login_not_required
def nothing(request: HttpRequest, **_: Any) -> HttpResponse:
    """Answer 404: the metadata name an address to sign out, which this site does not have."""
    raise Http404


def _saml_patterns() -> list[Any]:
    from allauth.socialaccount.providers.saml import views
    from allauth.socialaccount.providers.saml.utils import build_auth, get_app_or_404

    from config.saml_responses import why_refused

    @_provider_page
    @require_safe
    def saml_login(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        _only_next(request)
        response: HttpResponseBase = views.login(request, **kwargs)
        return response

    @csrf_exempt
    @_provider_page
    @require_http_methods(["POST"])
    def saml_acs(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        """Keep a response for the next page, which gets the cookies of the site: only what the provider signed."""
        why = why_refused(request, build_auth(request, get_app_or_404(request, **kwargs).get_provider(request)))
        if why is not None:
            logger.warning("single sign-on failed: %.300r", why)  # a stranger may have written it
            return _refused(request, failed())
        response: HttpResponseBase = views.acs(request, **kwargs)
        return response

    class Finish(views.FinishACSView):
        """Sign in by the name that the provider gives a person for good, never by one for this session alone."""

        def get_provider(self, organization_slug: str) -> Any:
            provider = super().get_provider(organization_slug)
            named = provider.extract_uid

            def lasting(data: Any) -> str:
                uid: str = named(data)
                check_subject(uid)
                if data.get_nameid_format() == TRANSIENT and uid == data.get_nameid():
                    raise PersonError(no_lasting_name())
                return uid

            provider.extract_uid = lasting
            return provider

    finish = _provider_page(require_safe(Finish.as_view()), counts=False)  # it reads what one before has kept
    here = "sso/<slug:organization_slug>/"
    return [
        path(f"{here}login", saml_login, name="saml_login"),
        path(f"{here}acs", saml_acs, name="saml_acs"),
        path(f"{here}acs/finish", finish, name="saml_finish_acs"),
        path(f"{here}metadata", _provider_page(require_safe(views.metadata)), name="saml_metadata"),
        path(f"{here}sls", nothing, name="saml_sls"),
    ]


urlpatterns = (
    [
        path("sso/oidc/login", oidc_login, {"provider_id": OIDC}, name="openid_connect_login"),
        path("sso/oidc/callback", oidc_callback, {"provider_id": OIDC}, name="openid_connect_callback"),
    ]
    if OIDC in ISSUERS
    else []
)
if SAML in ISSUERS:
    urlpatterns += _saml_patterns()
