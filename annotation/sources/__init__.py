"""Where evidence may come from.

evidence.py checks links as text (check_evidence, problem_of, ascii_host); verified.py lists and edits the verified
sources of a campaign and of its relations (verified, add_source, change_source, remove_source, choose_sources);
topics.py says which of them are searched for a relation (searched).
"""
