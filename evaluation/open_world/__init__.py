"""Missing answers: what a sparse test set does to reported values, in theory, on a judged pool, and in studies.

Others use `sections_of` and `SECTIONS` (theory_page.py), `TheorySettings` and `parse_theory` (theory_settings.py),
`ANALYSIS` (sections.py, the page of a pool), and for studies `create_study`, `prepare_study` and `run_study`
(study.py), `view_of` (study_curves.py) and `study_sections` (study_sections.py).
"""
