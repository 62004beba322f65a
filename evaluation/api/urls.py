"""Addresses below /api/v1/: measures, evaluations, qrels and test sets."""

from django.urls import path

from evaluation.api import judgements, test_sets, views

urlpatterns = [
    path("measures", views.Measures.as_view(), name="api-measures"),
    path("measures/<str:measure>", views.MeasureOne.as_view(), name="api-measure"),
    path("analyses", views.Analyses.as_view(), name="api-analyses"),
    path("pools/<slug:pool>/evaluations", views.Evaluations.as_view(), name="api-evaluations"),
    path("pools/<slug:pool>/evaluations/<slug:analysis>", views.AnalysisOne.as_view(), name="api-evaluation"),
    path("pools/<slug:pool>/judgements", judgements.Judgements.as_view(), name="api-judgements"),
    path("pools/<slug:pool>/qrels", test_sets.PoolQrels.as_view(), name="api-pool-qrels"),
    path("pools/<slug:pool>/qrels/<slug:qrels>", test_sets.QrelsOne.as_view(), name="api-qrels"),
    path("pools/<slug:pool>/qrels/<slug:qrels>/terms", test_sets.QrelsTerms.as_view(), name="api-qrels-terms"),
    path("pools/<slug:pool>/imported-qrels", test_sets.ImportedQrels.as_view(), name="api-imported-qrels"),
    path("pools/<slug:pool>/trec/<str:file>", test_sets.TrecFile.as_view(), name="api-trec-file"),
    path("test-sets", test_sets.TestSets.as_view(), name="api-test-sets"),
    path("pools/<slug:pool>/exports", test_sets.PoolExports.as_view(), name="api-pool-exports"),
    path("exports/<int:export>", test_sets.ExportOne.as_view(), name="api-export"),
    path("exports/<int:export>/download", test_sets.ExportDownload.as_view(), name="api-export-download"),
]
