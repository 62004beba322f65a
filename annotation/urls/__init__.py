"""Addresses of the pages: annotators.py, campaigns.py (managers) and people.py."""
