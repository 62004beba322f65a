from django.urls import path

from pooling.views import filter, graph, job, pool, run, system, system_change, system_rules

urlpatterns = [
    path("graphs", graph.graphs, name="graphs"),
    path("graphs/<slug:name>", graph.graph, name="graph"),
    path("graphs/<slug:name>/systems", system.systems, name="systems"),
    path("graphs/<slug:name>/systems/<slug:system>", system.system, name="system"),
    path("graphs/<slug:name>/systems/<slug:system>/clone", system_change.clone, name="system-clone"),
    path("graphs/<slug:name>/systems/<slug:system>/retrain", system_change.retrain, name="system-retrain"),
    path("graphs/<slug:name>/systems/<slug:system>/archive", system_change.archive, name="system-archive"),
    path("graphs/<slug:name>/systems/<slug:system>/restore", system_change.restore, name="system-restore"),
    path("graphs/<slug:name>/systems/<slug:system>/files/<str:file>", system.system_file, name="system-file"),
    path(
        "graphs/<slug:name>/systems/<slug:system>/rules.tsv", system_rules.system_rules, name="system-rules"
    ),
    path("graphs/<slug:name>/compare", system.compared, name="systems-compare"),
    path("graphs/<slug:name>/train/<slug:kind>", system_change.new, name="system-new"),
    path("graphs/<slug:name>/runs", run.runs, name="runs"),
    path("systems", system.all_systems, name="systems-all"),
    path("pools", pool.pools, name="pools"),
    path("pools/new", pool.new, name="pool-new"),
    path("pools/<slug:name>/triples", pool.triples, name="pool-triples"),
    path("pools/<slug:name>/filter", filter.filter_page, name="pool-filter"),
    path("jobs", job.jobs, name="jobs"),
    path("jobs/<int:pk>", job.job, name="job"),
    path("jobs/<int:pk>/cancel", job.cancel, name="job-cancel"),
    path("jobs/<int:pk>/retry", job.retry, name="job-retry"),
]
