"""Build, import, filter, extend and freeze pools, and count what is in them.

Others use get_pool, create_pool, import_pool and freeze_pool (build.py), extend_pool (growth.py), refilter_pool
(filtering.py), pool_counts and overlap_report (report.py), seed_array and seed_report (seeds.py), order_pool
(to_judge.py), and the registry of filters (kernels/filters.py).
"""
