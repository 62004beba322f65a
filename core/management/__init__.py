"""Commands that need no subject, and shell.py: the base, errors, progress and tables of all commands."""
