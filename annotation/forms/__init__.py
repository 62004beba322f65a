"""Forms of the pages, named like their views; choose_from (fields.py) sets the rows that one form offers."""
