"""Addresses of the pages that belong to no subject; those of the people side are in annotation/urls.py."""

from django.urls import path
from django.views.generic import TemplateView

from core.views.languages import choose, words
from core.views.tokens import tokens

urlpatterns = [
    path("language", choose, name="language"),
    path("language/<slug:code>.js", words, name="words"),
    path("account/tokens", tokens, name="account-tokens"),
    path("api/docs", TemplateView.as_view(template_name="core/api_docs.html"), name="api-docs"),
]
