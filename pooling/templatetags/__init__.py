"""Template tags of the pooling pages: the tabs of a pool (pool_tabs.py) and its stages (stages.py)."""
