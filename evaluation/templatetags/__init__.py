"""Template tags of the evaluation pages (analysis_tabs.py): their tabs, and the cells of their tables."""
