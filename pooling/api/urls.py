"""Addresses below /api/v1/: graphs, systems, runs, pools, jobs, and the schema of the whole API."""

from django.urls import path

from core.api.views import Schema
from pooling.api import graph_uploads, uploads, views

urlpatterns = [
    path("schema", Schema.as_view(), name="api-schema"),
    path("graphs", views.Graphs.as_view(), name="api-graphs"),
    path("graphs/<slug:graph>", views.GraphOne.as_view(), name="api-graph"),
    path("graph-uploads", graph_uploads.GraphUploads.as_view(), name="api-graph-uploads"),
    path(
        "graph-uploads/<uuid:upload>/preview",
        graph_uploads.GraphUploadPreview.as_view(),
        name="api-graph-upload-preview",
    ),
    path(
        "graph-uploads/<uuid:upload>/import", graph_uploads.GraphUploadImport.as_view(), name="api-graph-upload-import"
    ),
    path("systems", views.Systems.as_view(), name="api-systems"),
    path("graphs/<slug:graph>/systems/<slug:system>", views.SystemOne.as_view(), name="api-system"),
    path("runs", views.Runs.as_view(), name="api-runs"),
    path("graphs/<slug:graph>/runs", views.GraphRuns.as_view(), name="api-graph-runs"),
    path("graphs/<slug:graph>/runs/<slug:system>", views.RunOne.as_view(), name="api-run"),
    path("graphs/<slug:graph>/runs/<slug:system>/download", views.RunDownload.as_view(), name="api-run-download"),
    path("graphs/<slug:graph>/runs/<slug:system>/publish", views.RunPublish.as_view(), name="api-run-publish"),
    path("graphs/<slug:graph>/runs/<slug:system>/replace", views.RunReplace.as_view(), name="api-run-replace"),
    path("graphs/<slug:graph>/uploads", uploads.GraphUploads.as_view(), name="api-uploads"),
    path("uploads/<uuid:upload>", uploads.UploadOne.as_view(), name="api-upload"),
    path("uploads/<uuid:upload>/parts/<int:number>", uploads.UploadPart.as_view(), name="api-upload-part"),
    path("uploads/<uuid:upload>/topics", uploads.UploadTopics.as_view(), name="api-upload-topics"),
    path("uploads/<uuid:upload>/finish", uploads.UploadFinish.as_view(), name="api-upload-finish"),
    path("pools", views.Pools.as_view(), name="api-pools"),
    path("pools/<slug:pool>", views.PoolOne.as_view(), name="api-pool"),
    path("jobs", views.Jobs.as_view(), name="api-jobs"),
    path("jobs/<int:job>", views.JobOne.as_view(), name="api-job"),
    path("jobs/<int:job>/cancel", views.JobCancel.as_view(), name="api-job-cancel"),
    path("jobs/<int:job>/retry", views.JobRetry.as_view(), name="api-job-retry"),
]
