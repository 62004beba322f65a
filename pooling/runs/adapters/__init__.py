"""Read runs as other programs write them; adding a form is one file here and one line in registry.py.

Others use `read_answers` and ADAPTERS (registry.py), Outside and Answers (base.py).
"""
