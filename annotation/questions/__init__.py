"""The words in which people are asked.

templates.py keeps the versions of each relation's question (current_template, save_template, templates_at), fills them
(question_text, item_text), and reads and writes them as TSV (templates_tsv, read_templates); review.py shows a
manager what will be asked (asked_relations, coverage, examples, missing_labels); reading.py notes what a person has
read (unread_relations, mark_read), and refuses names that are not words (refuse_without_words).
"""
