"""Build a page for each paper: its tables and figures in its order, published values beside measured ones.

One file per paper with its ANALYSIS; `published.py` reads what was published of single systems.
"""
