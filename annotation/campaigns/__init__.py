"""A campaign as its manager sees it: opened, set up, watched.

lifecycle.py opens one (open_campaign, get_campaign) and changes its rules and state (set_rules, set_state); overview.py
counts what is done and left (overview, open_reports, labels_by_source); outlook.py says who can finish it; trend.py and
kernel.py follow it over days (trend, finish); notices.py tells managers what happened; items.py finds items and their
history (find_items, item_rows, history, people_who_answered); bulk.py acts on many of them.
"""
