"""Addresses below /api/v1/: campaigns, questions, labels, decisions and reports."""

from django.urls import path

from annotation.api import campaigns, views

urlpatterns = [
    path("campaigns", campaigns.Campaigns.as_view(), name="api-campaigns"),
    path("campaigns/<slug:pool>", campaigns.CampaignOne.as_view(), name="api-campaign"),
    path("campaigns/<slug:pool>/items", campaigns.Items.as_view(), name="api-items"),
    path("campaigns/<slug:pool>/claim", views.Claim.as_view(), name="api-claim"),
    path("campaigns/<slug:pool>/labels", views.OwnLabels.as_view(), name="api-own-labels"),
    path("campaigns/<slug:pool>/claim-disputed", views.ClaimDisputed.as_view(), name="api-claim-disputed"),
    path("campaigns/<slug:pool>/progress", views.Progress.as_view(), name="api-progress"),
    path("slots/renew", views.Renew.as_view(), name="api-renew"),
    path("slots/release", views.Release.as_view(), name="api-release"),
    path("labels", views.Submit.as_view(), name="api-submit"),
    path("labels/<uuid:label>/change", views.Change.as_view(), name="api-change"),
    path("decisions", views.SubmitDecision.as_view(), name="api-submit-decision"),
    path("decisions/return", views.ReturnDispute.as_view(), name="api-return"),
    path("flags", views.Report.as_view(), name="api-flag"),
]
