"""From labels to judgements: the rules that decide an item, and what waits for whom.

judgements.py decides (judge_item, decide, live_labels, current_verdicts, labels_version); label_import.py imports
labels made elsewhere (import_labels); label_file.py reads their files (read_label_file, read_truth); transitions.py has
the allowed moves of items, slots, checks and campaigns; waiting.py finds what can be given out (waiting_items,
waiting_disputes); verdicts.py works out judgements at an earlier time or of one person.
"""
