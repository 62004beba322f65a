"""The form of API tokens, and set_rows and set_choices (fields.py) for the choice fields of any form."""
