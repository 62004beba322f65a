"""Write what evaluation pages show, once for page, JSON, CSV and report.

Others use `section.py` (Analysis, Part, Section, Table, Chart, Context), `settings.py` (Settings, parse_settings),
`figure_cache.py` (part_figure, current_figure, start_part), `metrics.py` (metrics), `builders.py`, `wording.py` and
`csv_text.py`.
"""
