"""Pages of the evaluation, a file for each subject; csv_file.py and settings_form.py are shared by several."""
