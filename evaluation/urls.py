"""Addresses of the evaluation pages."""

from django.urls import path

from evaluation.views import analyses, browse, frame, keeping, labels, open_world, overview, own_run, papers, test_sets

POOL = "pools/<slug:name>"
EVALUATION = f"{POOL}/evaluation"
EXPORT = f"{POOL}/export"
STUDY = "open-world/studies/<slug:name>"

urlpatterns = [
    path("", overview.home, name="home"),
    path("help", overview.help_index, name="help"),
    path("help/<slug:page>", overview.help_page, name="help-page"),
    path("search", frame.search, name="search"),
    path("attention", frame.attention, name="attention"),
    path("pools/switch", frame.switch, name="pool-switch"),
    path(f"{POOL}/attention", frame.pool_attention, name="pool-attention"),
    path("papers", papers.papers, name="papers"),
    path("papers/<slug:number>", papers.paper, name="paper"),
    path("open-world", open_world.open_world, name="open-world"),
    path("open-world/<slug:table>.csv", open_world.open_world_csv, name="open-world-csv"),
    path("open-world/studies", open_world.studies, name="open-world-studies"),
    path(STUDY, open_world.study, name="open-world-study"),
    path(f"{STUDY}.json", open_world.study_json, name="open-world-study-json"),
    path(f"{STUDY}/version", open_world.study_version, name="open-world-study-version"),
    path(f"{STUDY}/continue", open_world.study_continue, name="open-world-study-continue"),
    path(f"{STUDY}/delete", keeping.study_delete, name="study-delete"),
    path(f"{STUDY}/<slug:table>.csv", open_world.study_csv, name="open-world-study-csv"),
    path("test-sets/import", test_sets.import_page, name="test-set-import"),
    path(POOL, overview.status, name="pool"),
    path(EVALUATION, overview.evaluation, name="evaluation"),
    path(f"{EVALUATION}/version", overview.evaluation_version, name="evaluation-version"),
    path(f"{EVALUATION}/labels", labels.labels, name="evaluation-labels"),
    path(f"{EVALUATION}/labels.csv", labels.labels_csv, name="evaluation-labels-csv"),
    path(f"{EVALUATION}/report", overview.report, name="evaluation-report"),
    path(f"{EVALUATION}/report/download", overview.report_download, name="report-download"),
    path(f"{EVALUATION}/questions", browse.questions, name="evaluation-questions"),
    path(f"{EVALUATION}/questions.csv", browse.questions_csv, name="evaluation-questions-csv"),
    path(f"{EVALUATION}/questions/<str:side>/<int:relation>/<int:entity>", browse.question, name="evaluation-question"),
    path(f"{EVALUATION}/triples", browse.triples, name="evaluation-triples"),
    path(f"{EVALUATION}/triples.csv", browse.triples_csv, name="evaluation-triples-csv"),
    path(f"{EVALUATION}/triples/<int:head>/<int:relation>/<int:tail>", browse.triple, name="evaluation-triple"),
    path(f"{EVALUATION}/max-k/score", analyses.score, {"key": "max-k"}, name="max-k-score"),
    path(f"{EVALUATION}/classification/score", analyses.score, {"key": "classification"}, name="classification-score"),
    path(f"{EVALUATION}/reusability/add-system", analyses.extend, name="reusability-extend"),
    # any other name is that of an analysis
    path(f"{EVALUATION}/<slug:key>.json", analyses.analysis_json, name="analysis-json"),
    path(f"{EVALUATION}/<slug:key>", analyses.analysis_page, name="analysis"),
    path(f"{EVALUATION}/<slug:key>/<slug:table>.csv", analyses.analysis_csv, name="analysis-csv"),
    path(f"{EVALUATION}/<slug:key>/<slug:part>/compute", analyses.analysis_compute, name="analysis-compute"),
    path(EXPORT, test_sets.export, name="export"),
    path(f"{EXPORT}/trec/<str:file>", test_sets.export_trec_file, name="export-trec-file"),
    path(f"{EXPORT}/<slug:qrels>/terms", test_sets.export_terms, name="export-terms"),
    path(f"{EXPORT}/<slug:qrels>/write", test_sets.export_start, name="export-start"),
    path(f"{EXPORT}/<slug:qrels>/<int:number>.zip", test_sets.export_download, name="export-download"),
    path(f"{POOL}/archive", keeping.pool_archive, name="pool-archive"),
    path(f"{POOL}/delete", keeping.pool_delete, name="pool-delete"),
    path("graphs/<slug:name>/runs/<slug:system>", own_run.run_page, name="run"),
    path("graphs/<slug:name>/archive", keeping.graph_archive, name="graph-archive"),
    path("graphs/<slug:name>/delete", keeping.graph_delete, name="graph-delete"),
    path("graphs/<slug:name>/systems/<slug:system>/delete", keeping.system_delete, name="system-delete"),
]
