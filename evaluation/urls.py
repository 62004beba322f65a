from django.urls import path

from evaluation.views import evaluation, export, status

urlpatterns = [
    path("", status.home, name="home"),
    path("pools/<slug:name>", status.status, name="pool"),
    path("pools/<slug:name>/evaluation", evaluation.evaluation, name="evaluation"),
    path("pools/<slug:name>/evaluation/version", evaluation.evaluation_version, name="evaluation-version"),
    path("pools/<slug:name>/evaluation/compute", evaluation.evaluation_compute, name="evaluation-compute"),
    path("pools/<slug:name>/export", export.export, name="export"),
    path("pools/<slug:name>/export/<slug:qrels>/write", export.export_start, name="export-start"),
    path("pools/<slug:name>/export/<slug:qrels>/download", export.export_download, name="export-download"),
]
