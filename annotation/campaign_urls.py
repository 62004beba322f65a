"""Manager pages of the people side; the pages of annotators are in annotation/urls.py."""

from django.urls import path

from annotation.views import campaign, question

urlpatterns = [
    path("people", campaign.people, name="people"),
    path("pools/<slug:name>/campaign", campaign.campaign, name="campaign"),
    path("pools/<slug:name>/questions", question.questions, name="pool-questions"),
]
