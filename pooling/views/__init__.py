"""Pages of graphs, systems, runs, pools and jobs, a file for each subject; pooling/urls.py has their addresses.

Others use find_graph, find_system and find_pool (find.py), which answer 404 where there is none.
"""
