"""Template filters for numbers (figures.py)."""
