"""People label: who is given which question, what becomes of an answer, and how labels are taken back.

queue.py leases slots (claim, claim_disputed, renew, release, release_all), by question (question.py); submit.py keeps
answers (submit, change) of slots and checks alike, which assignments.py puts behind one interface; own_labels.py lists
and counts a person's own labels (own_labels, changeable_tickets, changeable_until, answers_in, own_progress,
label_counts, questions_left); disputes.py lists what an adjudicator may decide (open_disputes, blocked_disputes);
withdraw.py takes back (withdraw_labels, return_item, return_dispute, reopen_judgement).
"""
