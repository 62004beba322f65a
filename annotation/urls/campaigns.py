"""Addresses of the pages of a campaign for managers; annotators have annotation/urls/annotators.py."""

from django.urls import path

from annotation.views import campaigns, guidelines, inbox, quality, question_files, release, withdraw
from annotation.views import checks as check
from annotation.views import questions as question
from annotation.views import sources as source
from annotation.views import triples as triple

urlpatterns = [
    path("pools/<slug:name>/campaign", campaigns.campaign, name="campaign"),
    path("pools/<slug:name>/campaign/rules", campaigns.rules, name="campaign-rules"),
    path("pools/<slug:name>/campaign/order", release.order, name="campaign-order"),
    path("pools/<slug:name>/campaign/inbox", inbox.inbox, name="inbox"),
    path("pools/<slug:name>/campaign/triples", triple.triples, name="campaign-triples"),
    path("pools/<slug:name>/campaign/triples/<int:pk>", triple.triple, name="campaign-triple"),
    path("pools/<slug:name>/campaign/checks", check.checks, name="checks"),
    path("pools/<slug:name>/campaign/withdraw/<int:pk>", withdraw.withdraw, name="withdraw"),
    path("pools/<slug:name>/questions", question.questions, name="pool-questions"),
    path("pools/<slug:name>/questions.tsv", question_files.questions_tsv, name="pool-questions-tsv"),
    path("pools/<slug:name>/questions/import", question_files.import_questions, name="pool-questions-import"),
    path("pools/<slug:name>/questions/missing-labels", question_files.missing, name="pool-missing-labels"),
    path("pools/<slug:name>/questions/<int:index>", question.history, name="pool-question"),
    path("pools/<slug:name>/campaign/sources", source.sources, name="campaign-sources"),
    path("pools/<slug:name>/campaign/sources/<int:pk>", source.source, name="campaign-source"),
    path("pools/<slug:name>/campaign/guidelines", guidelines.write, name="campaign-guidelines"),
    path("pools/<slug:name>/campaign/quality", quality.quality, name="quality"),
    path("pools/<slug:name>/campaign/annotators", quality.annotator_list, name="annotators"),
    path("pools/<slug:name>/campaign/annotators/<int:pk>", quality.annotator, name="annotator"),
    path("pools/<slug:name>/campaign/hours.csv", quality.hours, name="hours"),
]
