"""Every address of the site: apps in the order in which data flows."""

from csp.constants import UNSAFE_INLINE
from csp.decorators import csp_update
from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.permissions import IsAuthenticated

from pooling.api.views import Nothing

# Swagger UI comes from its package; it writes one <style> element of its own
api_docs = csp_update({"style-src": [UNSAFE_INLINE]})(
    SpectacularSwaggerSplitView.as_view(url_name="api-schema", permission_classes=[IsAuthenticated])
)

urlpatterns = [
    path("login", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("admin/", admin.site.urls),
    path("", include("pooling.urls")),
    path("", include("annotation.people_urls")),
    path("", include("annotation.urls")),
    path("api/docs", api_docs, name="api-docs"),
    path("api/v1/", include("pooling.api.urls")),
    path("api/v1/", include("annotation.api.urls")),
    path("api/v1/", include("evaluation.api.urls")),
    re_path(r"^api/v1/", Nothing.as_view(), name="api-nothing"),
    path("", include("annotation.campaign_urls")),
    path("", include("evaluation.urls")),
]
