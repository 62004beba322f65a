"""Every address of the site: apps in the order in which data flows."""

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from annotation.people.accounts import managers
from config.sign_in import ADD_MANAGER, AdminSignInForm, SignIn, SignInForm
from core.api.views import Nothing, with_slash

admin.site.login_form = AdminSignInForm

handler400 = "config.problems.unreadable"
handler403 = "config.problems.forbidden"
handler404 = "config.problems.not_found"
handler500 = "config.problems.failed"
urlpatterns = [
    path("api/v1/", include("annotation.api.urls")),  # first: each answer of a person goes there
    path(
        "login",
        SignIn.as_view(
            redirect_authenticated_user=True,
            authentication_form=SignInForm,
            extra_context={
                "providers": settings.SINGLE_SIGN_ON.providers,
                "passwords": settings.PASSWORD_SIGN_IN,
                "managers": managers,  # the template calls it
                "add_manager": ADD_MANAGER,
            },
        ),
        name="login",
    ),
    path("logout", LogoutView.as_view(), name="logout"),
    # the admin's own page would not count wrong passwords
    path("admin/password_change/", RedirectView.as_view(pattern_name="account-password"), name="admin-password"),
    path("admin/", admin.site.urls),
    path("", include("core.urls")),
    path("", include("pooling.urls")),
    path("", include("annotation.urls")),
    path("api/v1/", include("pooling.api.urls")),
    path("api/v1/", include("evaluation.api.urls")),
    re_path(r"^api/v1/(?P<path>.*[^/])/$", with_slash, name="api-with-slash"),
    re_path(r"^api/v1/", Nothing.as_view(), name="api-nothing"),
    path("", include("evaluation.urls")),
]
if settings.SINGLE_SIGN_ON.providers:
    urlpatterns.insert(0, path("", include("config.single_sign_on_pages")))
