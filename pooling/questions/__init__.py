"""Questions about triples: as arrays, and in words.

`kernel.py` holds questions and their answers as arrays (`Questions`, `Csr`, `questions_of`, `answers_csr`).
`templates.py` checks and fills question texts (`check_template`, `fill`). `default_templates.py` writes them for any
relation from its name (`default_template`), whose words `relation_names.py` reads (`is_readable`).
"""
