"""Questions about triples: as arrays, and in words.

`kernel.py` holds questions and their answers as arrays (`Questions`, `Csr`, `questions_of`, `answers_csr`).
`templates.py` checks and fills question texts (`check_template`, `fill`) and writes them for any relation
(`default_template`).
"""
