from django.urls import path

from evaluation.views import (
    analyses,
    exports,
    help,
    keeping,
    labels,
    max_k,
    open_world,
    open_world_study,
    overview,
    reports,
    reusability,
    status,
    test_sets,
)
from evaluation.views import questions as question
from evaluation.views import triples as triple

urlpatterns = [
    path("", status.home, name="home"),
    path("help/<slug:page>", help.help_page, name="help-page"),
    path("open-world", open_world.open_world, name="open-world"),
    path("open-world/<slug:table>.csv", open_world.open_world_csv, name="open-world-csv"),
    path("open-world/studies", open_world_study.studies, name="open-world-studies"),
    path("open-world/studies/<slug:name>", open_world_study.study, name="open-world-study"),
    path("open-world/studies/<slug:name>.json", open_world_study.study_json, name="open-world-study-json"),
    path("open-world/studies/<slug:name>/version", open_world_study.study_version, name="open-world-study-version"),
    path("open-world/studies/<slug:name>/continue", open_world_study.study_continue, name="open-world-study-continue"),
    path(
        "open-world/studies/<slug:name>/<slug:table>.csv", open_world_study.study_csv, name="open-world-study-csv"
    ),
    path("test-sets/import", test_sets.import_page, name="test-set-import"),
    path("pools/<slug:name>", status.status, name="pool"),
    path("pools/<slug:name>/evaluation", overview.evaluation, name="evaluation"),
    path("pools/<slug:name>/evaluation/version", overview.evaluation_version, name="evaluation-version"),
    path("pools/<slug:name>/evaluation/labels", labels.labels, name="evaluation-labels"),
    path("pools/<slug:name>/evaluation/labels.csv", labels.labels_csv, name="evaluation-labels-csv"),
    path("pools/<slug:name>/evaluation/report", reports.report, name="evaluation-report"),
    path("pools/<slug:name>/evaluation/report/download", reports.report_download, name="report-download"),
    path("pools/<slug:name>/evaluation/questions", question.questions, name="evaluation-questions"),
    path("pools/<slug:name>/evaluation/questions.csv", question.questions_csv, name="evaluation-questions-csv"),
    path(
        "pools/<slug:name>/evaluation/questions/<str:side>/<int:relation>/<int:entity>",
        question.question,
        name="evaluation-question",
    ),
    path("pools/<slug:name>/evaluation/triples", triple.triples, name="evaluation-triples"),
    path("pools/<slug:name>/evaluation/triples.csv", triple.triples_csv, name="evaluation-triples-csv"),
    path(
        "pools/<slug:name>/evaluation/triples/<int:head>/<int:relation>/<int:tail>",
        triple.triple,
        name="evaluation-triple",
    ),
    # what is listed above is no analysis; these take any other name
    path("pools/<slug:name>/evaluation/<slug:key>.json", analyses.analysis_json, name="analysis-json"),
    path("pools/<slug:name>/evaluation/<slug:key>", analyses.analysis_page, name="analysis"),
    path("pools/<slug:name>/evaluation/<slug:key>/<slug:table>.csv", analyses.analysis_csv, name="analysis-csv"),
    path(
        "pools/<slug:name>/evaluation/<slug:key>/<slug:part>/compute", analyses.analysis_compute,
        name="analysis-compute",
    ),
    path("pools/<slug:name>/evaluation/max-k/score", max_k.score, name="max-k-score"),
    path("pools/<slug:name>/evaluation/reusability/add-system", reusability.extend, name="reusability-extend"),
    path("graphs/<slug:name>/archive", keeping.graph_archive, name="graph-archive"),
    path("graphs/<slug:name>/delete", keeping.graph_delete, name="graph-delete"),
    path("graphs/<slug:name>/systems/<slug:system>/delete", keeping.system_delete, name="system-delete"),
    path("pools/<slug:name>/archive", keeping.pool_archive, name="pool-archive"),
    path("pools/<slug:name>/delete", keeping.pool_delete, name="pool-delete"),
    path("open-world/studies/<slug:name>/delete", keeping.study_delete, name="study-delete"),
    path("pools/<slug:name>/export", exports.export, name="export"),
    path("pools/<slug:name>/export/trec/<str:file>", exports.export_trec_file, name="export-trec-file"),
    path("pools/<slug:name>/export/<slug:qrels>/write", exports.export_start, name="export-start"),
    path("pools/<slug:name>/export/<slug:qrels>/<int:number>.zip", exports.export_download, name="export-download"),
]  # fmt: skip
