"""Addresses of the pages of annotators and adjudicators, of people, and of a campaign for its manager."""

from django.urls import path

from annotation.views import account, annotate, campaigns, inbox, members, notices, people, quality, release, training
from annotation.views import questions as question
from annotation.views import sources as source
from annotation.views import webhooks as webhook

urlpatterns = [
    path("campaigns/<slug:pool>/annotate", annotate.annotate, name="annotate"),
    path("campaigns/<slug:pool>/labels", annotate.my_labels, name="my-labels"),
    path("campaigns/<slug:pool>/adjudicate", annotate.adjudicate, name="adjudicate"),
    path("campaigns/<slug:pool>/disputes", annotate.disputes, name="disputes"),
    path("campaigns/<slug:pool>/messages", inbox.own_messages, name="messages"),
    path("campaigns/<slug:pool>/guidelines", inbox.guidelines, name="guidelines"),
    path("campaigns/<slug:pool>/training", training.training, name="campaign-training"),
    path("campaigns/<slug:pool>/consent", members.consent, name="consent"),
    path("invitations/<str:token>", members.invitation, name="invitation"),
    path("people", people.people, name="people"),
    path("people/<int:pk>", people.person, name="person"),
    path("people/<int:pk>/erase", people.person_erase, name="person-erase"),
    path("audit", people.audit, name="audit"),
    path("account", account.account, name="account"),
    path("account/password", account.PasswordChange.as_view(), name="account-password"),
    path("account/time-zone", account.account_time_zone, name="account-time-zone"),
    path("account/data.json", account.account_data, name="account-data"),
    path("account/erase", account.account_erase, name="account-erase"),
    path("password/forgotten", account.Forgotten.as_view(), name="password-forgotten"),
    path("password/forgotten/sent", account.Sent.as_view(), name="password-sent"),
    path("password/new/<uidb64>/<token>", account.NewPassword.as_view(), name="password-new"),
    path("password/new/done", account.NewPasswordDone.as_view(), name="password-new-done"),
    path("notices", notices.notices, name="notices"),
    path("webhooks", webhook.webhooks, name="webhooks"),
    path("webhooks/<int:pk>", webhook.webhook, name="webhook"),
    path("pools/<slug:name>/questions", question.questions, name="pool-questions"),
    path("pools/<slug:name>/questions.tsv", question.questions_tsv, name="pool-questions-tsv"),
    path("pools/<slug:name>/questions/import", question.import_questions, name="pool-questions-import"),
    path("pools/<slug:name>/questions/missing-labels", question.missing, name="pool-missing-labels"),
    path("pools/<slug:name>/questions/<int:index>", question.history, name="pool-question"),
    path("pools/<slug:name>/campaign", campaigns.campaign, name="campaign"),
    path("pools/<slug:name>/campaign/people", members.campaign_people, name="campaign-people"),
    path("pools/<slug:name>/campaign/rules", campaigns.rules, name="campaign-rules"),
    path("pools/<slug:name>/campaign/order", release.order, name="campaign-order"),
    path("pools/<slug:name>/campaign/inbox", inbox.inbox, name="inbox"),
    path("pools/<slug:name>/campaign/triples", campaigns.triples, name="campaign-triples"),
    path("pools/<slug:name>/campaign/triples.csv", campaigns.triples_csv, name="campaign-triples-csv"),
    path("pools/<slug:name>/campaign/triples/bulk", campaigns.triples_bulk, name="campaign-triples-bulk"),
    path("pools/<slug:name>/campaign/triples/<int:pk>", campaigns.triple, name="campaign-triple"),
    path("pools/<slug:name>/campaign/checks", quality.checks, name="checks"),
    path("pools/<slug:name>/campaign/withdraw/<int:pk>", quality.withdraw, name="withdraw"),
    path("pools/<slug:name>/campaign/sources", source.sources, name="campaign-sources"),
    path("pools/<slug:name>/campaign/sources/<int:pk>", source.source, name="campaign-source"),
    path("pools/<slug:name>/campaign/guidelines", inbox.write, name="campaign-guidelines"),
    path("pools/<slug:name>/campaign/quality", quality.quality, name="quality"),
    path("pools/<slug:name>/campaign/annotators", quality.annotator_list, name="annotators"),
    path("pools/<slug:name>/campaign/annotators/<int:pk>", quality.annotator, name="annotator"),
    path("pools/<slug:name>/campaign/hours.csv", quality.hours, name="hours"),
]
