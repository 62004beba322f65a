"""Helpers for two databases: insert_rows (bulk_insert.py), held (row_locks.py), one_moment (snapshot.py) and named_once
(unique_names.py).
"""
