"""The filter that names systems on pages (system_names.py)."""
