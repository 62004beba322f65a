"""Addresses of the evaluation pages."""

from django.urls import path

from evaluation.views import (
    analyses,
    exports,
    help,
    keeping,
    labels,
    max_k,
    open_world,
    overview,
    reports,
    reusability,
    status,
    test_sets,
)
from evaluation.views import open_world_study as studies
from evaluation.views import questions as question
from evaluation.views import triples as triple

POOL = "pools/<slug:name>"
EVALUATION = f"{POOL}/evaluation"
EXPORT = f"{POOL}/export"
STUDY = "open-world/studies/<slug:name>"

urlpatterns = [
    path("", status.home, name="home"),
    path("help/<slug:page>", help.help_page, name="help-page"),
    path("open-world", open_world.open_world, name="open-world"),
    path("open-world/<slug:table>.csv", open_world.open_world_csv, name="open-world-csv"),
    path("open-world/studies", studies.studies, name="open-world-studies"),
    path(STUDY, studies.study, name="open-world-study"),
    path(f"{STUDY}.json", studies.study_json, name="open-world-study-json"),
    path(f"{STUDY}/version", studies.study_version, name="open-world-study-version"),
    path(f"{STUDY}/continue", studies.study_continue, name="open-world-study-continue"),
    path(f"{STUDY}/delete", keeping.study_delete, name="study-delete"),
    path(f"{STUDY}/<slug:table>.csv", studies.study_csv, name="open-world-study-csv"),
    path("test-sets/import", test_sets.import_page, name="test-set-import"),
    path(POOL, status.status, name="pool"),
    path(EVALUATION, overview.evaluation, name="evaluation"),
    path(f"{EVALUATION}/version", overview.evaluation_version, name="evaluation-version"),
    path(f"{EVALUATION}/labels", labels.labels, name="evaluation-labels"),
    path(f"{EVALUATION}/labels.csv", labels.labels_csv, name="evaluation-labels-csv"),
    path(f"{EVALUATION}/report", reports.report, name="evaluation-report"),
    path(f"{EVALUATION}/report/download", reports.report_download, name="report-download"),
    path(f"{EVALUATION}/questions", question.questions, name="evaluation-questions"),
    path(f"{EVALUATION}/questions.csv", question.questions_csv, name="evaluation-questions-csv"),
    path(
        f"{EVALUATION}/questions/<str:side>/<int:relation>/<int:entity>", question.question, name="evaluation-question"
    ),
    path(f"{EVALUATION}/triples", triple.triples, name="evaluation-triples"),
    path(f"{EVALUATION}/triples.csv", triple.triples_csv, name="evaluation-triples-csv"),
    path(f"{EVALUATION}/triples/<int:head>/<int:relation>/<int:tail>", triple.triple, name="evaluation-triple"),
    path(f"{EVALUATION}/max-k/score", max_k.score, name="max-k-score"),
    path(f"{EVALUATION}/reusability/add-system", reusability.extend, name="reusability-extend"),
    # any other name is that of an analysis
    path(f"{EVALUATION}/<slug:key>.json", analyses.analysis_json, name="analysis-json"),
    path(f"{EVALUATION}/<slug:key>", analyses.analysis_page, name="analysis"),
    path(f"{EVALUATION}/<slug:key>/<slug:table>.csv", analyses.analysis_csv, name="analysis-csv"),
    path(f"{EVALUATION}/<slug:key>/<slug:part>/compute", analyses.analysis_compute, name="analysis-compute"),
    path(EXPORT, exports.export, name="export"),
    path(f"{EXPORT}/trec/<str:file>", exports.export_trec_file, name="export-trec-file"),
    path(f"{EXPORT}/<slug:qrels>/write", exports.export_start, name="export-start"),
    path(f"{EXPORT}/<slug:qrels>/<int:number>.zip", exports.export_download, name="export-download"),
    path(f"{POOL}/archive", keeping.pool_archive, name="pool-archive"),
    path(f"{POOL}/delete", keeping.pool_delete, name="pool-delete"),
    path("graphs/<slug:name>/archive", keeping.graph_archive, name="graph-archive"),
    path("graphs/<slug:name>/delete", keeping.graph_delete, name="graph-delete"),
    path("graphs/<slug:name>/systems/<slug:system>/delete", keeping.system_delete, name="system-delete"),
]
