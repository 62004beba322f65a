"""Addresses below /api/v1/: measures, evaluations, qrels and test sets."""

from django.urls import path

from evaluation.api import exports, qrels, views

urlpatterns = [
    path("measures", views.Measures.as_view(), name="api-measures"),
    path("measures/<str:measure>", views.MeasureOne.as_view(), name="api-measure"),
    path("analyses", views.Analyses.as_view(), name="api-analyses"),
    path("pools/<slug:pool>/evaluations", views.Evaluations.as_view(), name="api-evaluations"),
    path("pools/<slug:pool>/evaluations/<slug:analysis>", views.AnalysisOne.as_view(), name="api-evaluation"),
    path("pools/<slug:pool>/qrels", qrels.PoolQrels.as_view(), name="api-pool-qrels"),
    path("pools/<slug:pool>/qrels/<slug:qrels>", qrels.QrelsOne.as_view(), name="api-qrels"),
    path("pools/<slug:pool>/imported-qrels", qrels.ImportedQrels.as_view(), name="api-imported-qrels"),
    path("pools/<slug:pool>/trec/<str:file>", qrels.TrecFile.as_view(), name="api-trec-file"),
    path("pools/<slug:pool>/exports", exports.PoolExports.as_view(), name="api-pool-exports"),
    path("exports/<int:export>", exports.ExportOne.as_view(), name="api-export"),
    path("exports/<int:export>/download", exports.ExportDownload.as_view(), name="api-export-download"),
]
