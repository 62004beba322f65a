"""The tags that draw the badges of states (badges.py)."""
