from django.urls import path

from pooling.views import graph_import, pool_filter, pool_growth, pool_import, system_change
from pooling.views import graphs as graph
from pooling.views import jobs as job
from pooling.views import pools as pool
from pooling.views import runs as run
from pooling.views import systems as system

urlpatterns = [
    path("graphs", graph.graphs, name="graphs"),
    path("import-graph", graph_import.upload, name="graph-import"),
    path("import-graph/<uuid:token>", graph_import.confirm, name="graph-import-confirm"),
    path("graphs/<slug:name>", graph.graph, name="graph"),
    path("graphs/<slug:name>/systems", system.systems, name="systems"),
    path("graphs/<slug:name>/systems/<slug:system>", system.system, name="system"),
    path("graphs/<slug:name>/systems/<slug:system>/clone", system_change.clone, name="system-clone"),
    path("graphs/<slug:name>/systems/<slug:system>/retrain", system_change.retrain, name="system-retrain"),
    path("graphs/<slug:name>/systems/<slug:system>/archive", system_change.archive, name="system-archive"),
    path("graphs/<slug:name>/systems/<slug:system>/restore", system_change.restore, name="system-restore"),
    path("graphs/<slug:name>/systems/<slug:system>/files/<str:file>", system.system_file, name="system-file"),
    path("graphs/<slug:name>/systems/<slug:system>/rules.tsv", system.system_rules, name="system-rules"),
    path("graphs/<slug:name>/compare", system.compared, name="systems-compare"),
    path("graphs/<slug:name>/compare/<slug:chart>.csv", system.compared_csv, name="systems-compare-csv"),
    path("graphs/<slug:name>/train/<slug:kind>", system_change.new, name="system-new"),
    path("graphs/<slug:name>/runs", run.runs, name="runs"),
    path("graphs/<slug:name>/runs/<slug:system>.txt.gz", run.run_file, name="run-file"),
    path("graphs/<slug:name>/runs/<slug:system>.parquet", run.run_parquet, name="run-parquet"),
    path("graphs/<slug:name>/runs/<slug:system>/publish", run.run_publish, name="run-publish"),
    path("graphs/<slug:name>/runs/<slug:system>/replace", run.run_replace, name="run-replace"),
    path("graphs/<slug:name>/runs/<slug:system>/delete", run.run_delete, name="run-delete"),
    path("systems", system.all_systems, name="systems-all"),
    path("pools", pool.pools, name="pools"),
    path("pools/new", pool.new, name="pool-new"),
    path("import-pool", pool_import.upload, name="pool-import"),
    path("pools/<slug:name>/triples", pool.triples, name="pool-triples"),
    path("pools/<slug:name>/seeds", pool.seeds, name="pool-seeds"),
    path("pools/<slug:name>/seeds.csv", pool.seeds_csv, name="pool-seeds-csv"),
    path("pools/<slug:name>/overlap", pool.overlap, name="pool-overlap"),
    path("pools/<slug:name>/overlap.csv", pool.overlap_csv, name="pool-overlap-csv"),
    path("pools/<slug:name>/growth", pool_growth.growth, name="pool-growth"),
    path("pools/<slug:name>/freeze", pool_growth.freeze, name="pool-freeze"),
    path("pools/<slug:name>/score", run.score, name="pool-score"),
    path("pools/<slug:name>/filter", pool_filter.filter_page, name="pool-filter"),
    path("jobs", job.jobs, name="jobs"),
    path("jobs/<int:pk>", job.job, name="job"),
    path("jobs/<int:pk>/cancel", job.cancel, name="job-cancel"),
    path("jobs/<int:pk>/retry", job.retry, name="job-retry"),
]
