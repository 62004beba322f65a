"""Commands about measures, label sets, test sets and backups; options.py has what several share."""
