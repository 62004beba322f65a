"""Template tags: the cells of tables of results (cells.py), the sidebar of a pool or graph (sidebar.py)."""
