"""Pages of the evaluation, a file for each subject; evaluation/urls.py has their addresses.

csv_file.py sends a table as CSV, and settings_form.py fills the form of settings that several pages share.
"""
