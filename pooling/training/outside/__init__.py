"""Models that other programs trained: read their files without running code from them (`FORMS` of registry.py)."""
