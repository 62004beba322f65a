"""Template filters for numbers (figures.py), tags of the frame (frame.py) and the parts of a page (components.py)."""
