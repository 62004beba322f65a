"""Pages of the evaluation, a file for each subject; csv_file.py sends tables of all of them."""
