"""Forms of the evaluation pages, a file for each subject. They check shape; refusals of the domain appear at them too.

Others use MOST_BYTES (qrels.py), the size of the largest file of judgements that is accepted.
"""
