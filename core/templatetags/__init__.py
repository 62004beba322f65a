"""Template filters for numbers (figures.py), and tags of the frame around every page (frame.py)."""
