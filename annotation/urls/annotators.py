"""Addresses of the pages of annotators and adjudicators; managers have annotation/urls/campaigns.py."""

from django.urls import path

from annotation.views.adjudicate import adjudicate
from annotation.views.annotate import annotate
from annotation.views.disputes import disputes
from annotation.views.guidelines import guidelines
from annotation.views.labels import my_labels
from annotation.views.messages import own_messages

urlpatterns = [
    path("campaigns/<slug:pool>/annotate", annotate, name="annotate"),
    path("campaigns/<slug:pool>/labels", my_labels, name="my-labels"),
    path("campaigns/<slug:pool>/adjudicate", adjudicate, name="adjudicate"),
    path("campaigns/<slug:pool>/disputes", disputes, name="disputes"),
    path("campaigns/<slug:pool>/messages", own_messages, name="messages"),
    path("campaigns/<slug:pool>/guidelines", guidelines, name="guidelines"),
]
